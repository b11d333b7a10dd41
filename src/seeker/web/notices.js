// What a person must be told: refusals, a service that is away or slow, and pages that are new.

import { button, element } from "./dom.js";

/** @import { Search } from "./search.js" */

const LONG_ENOUGH = 8000;

export class Notices {
  #timer = 0;

  /** @param {() => void} retry */
  constructor(retry) {
    this.banner = element(
      "div",
      { className: "banner", part: "banner", hidden: true },
      element("p", { "aria-live": "polite" }),
      button("Try again", retry, { text: "Try again" }),
    );
    this.alert = element("p", { className: "toast", part: "message", role: "alert" });
    this.progress = element("div", { className: "progress", "aria-hidden": "true" });
    this.quiet = element("p", { className: "unseen", "aria-live": "polite" });
    this.elements = [this.banner, this.progress, this.quiet, this.alert];
  }

  /** @param {Search} search */
  show(search) {
    const kept = search.unsent ? " What you did is kept, and sent as soon as that works again." : "";
    const slow = search.slow ? "This takes longer than usual. Please wait a moment." : "";
    const away = search.unreachable ? search.unreachable + kept : slow;
    this.banner.hidden = !away;
    this.banner.classList.toggle("slow", !search.unreachable);
    const told = /** @type {HTMLElement} */ (this.banner.firstElementChild);
    if (told.textContent !== away) told.textContent = away;
    this.progress.classList.toggle("on", search.busy);
  }

  /** Say something that must not be missed. @param {string} text */
  say(text) {
    clearTimeout(this.#timer);
    this.alert.textContent = text;
    if (text) this.#timer = setTimeout(() => this.say(""), LONG_ENOUGH);
  }

  /** Say something to people who cannot see it. @param {string} text */
  whisper(text) {
    this.quiet.textContent = text;
  }

  close() {
    clearTimeout(this.#timer);
  }
}
