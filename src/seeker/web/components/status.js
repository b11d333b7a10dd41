// What a person must be told: refusals, a service that is away or slow, pages that are new; and what
// stands in place of items where there are none.

import { setFilter, travel } from "../commands.js";
import { element, setText, textButton } from "../dom.js";
import { say } from "../strings.js";

/** @import { SearchStore } from "../store.js" */
/** @import { Session } from "../types.js" */

const ALERT_MS = 8000;

export class Notices {
  #timer = 0;

  /** @param {() => void} retry */
  constructor(retry) {
    this.connection = element("p", { "aria-live": "polite" });
    this.banner = element(
      "div",
      { className: "banner", part: "banner", hidden: true },
      this.connection,
      textButton(say("tryAgain"), retry),
    );
    this.alert = element("p", { className: "toast", part: "message", role: "alert" });
    this.progress = element("div", { className: "progress", "aria-hidden": "true" });
    this.announcement = element("p", { className: "unseen", "aria-live": "polite" });
    this.elements = [this.banner, this.progress, this.announcement, this.alert];
  }

  /** @param {SearchStore} store */
  update({ busy, connectionError, hasPending, slow }) {
    const away =
      connectionError && [connectionError, ...(hasPending ? [say("status.unsent")] : [])].join(" ");
    const text = away || (slow ? say("status.slow") : "");
    this.banner.hidden = !text;
    this.banner.classList.toggle("slow", !connectionError);
    setText(this.connection, text);
    this.progress.classList.toggle("on", busy);
  }

  /** Say something that must not be missed. @param {string} text */
  showAlert(text) {
    clearTimeout(this.#timer);
    this.alert.textContent = text;
    if (text) this.#timer = setTimeout(() => this.showAlert(""), ALERT_MS);
  }

  /** Say to those who cannot see it that there is a new page. @param {Session} session */
  announcePage({ step, undone, page }) {
    const count = page.items.length;
    this.announcement.textContent = step
      ? say("ranking.newPage", { step, count })
      : undone
        ? say("ranking.startAgain", { count })
        : "";
  }

  close() {
    clearTimeout(this.#timer);
  }
}

/** Why there are no items, and what can be done. @typedef {{title: string, text: string, actions: [string, () => void][]}} EmptyReason */

/** What stands in place of items. */
export class EmptyState {
  /** What is on display. @type {string | null} */
  #key = null;

  constructor() {
    this.element = element("section", { className: "state", part: "state", hidden: true });
  }

  /** @param {EmptyReason | null} reason nothing: there is something to show */
  update(reason) {
    this.element.hidden = !reason;
    // What is there already stays, and keeps the focus.
    const key = reason && `${reason.title} ${reason.text}`;
    if (key === this.#key) return;
    this.#key = key;
    if (!reason) return this.element.replaceChildren();
    const buttons = reason.actions.map(([text, action], index) =>
      textButton(text, action, { className: index ? "" : "primary" }),
    );
    this.element.replaceChildren(
      element("h2", {}, reason.title),
      element("p", {}, reason.text),
      element("div", { className: "verdicts" }, ...buttons),
    );
  }
}

/** Whether there is nothing to see that has not been judged. @param {Session | null} session */
export function isExhausted(session) {
  if (!session || session.found || !session.page.items.length) return false;
  const rated = new Set([...session.likes, ...session.dislikes]);
  return session.page.items.every((item) => rated.has(item.id));
}

/**
 * @param {SearchStore} store
 * @param {boolean} canStart whether another search may be started here
 * @param {{start: () => void, reload: () => void}} handlers
 * @returns {EmptyReason | null}
 */
export function emptyReason(store, canStart, { start, reload }) {
  const { phase, error, session } = store;
  /** @type {[string, () => void][]} */
  const startAnew = canStart ? [[say("startAnew"), start]] : [];
  if (phase === "gone")
    return { title: say("status.gone"), text: say("status.goneText"), actions: startAnew };
  if (phase === "failed")
    return { title: say("status.failed"), text: error, actions: [[say("tryAgain"), reload], ...startAnew] };
  if (phase !== "ready" || !session) return null;
  if (isExhausted(session))
    return {
      title: say("status.exhausted"),
      text: say("status.exhaustedText"),
      actions: [[say("status.undoLast"), () => store.dispatch(travel(-1))]],
    };
  if (session.page.total > 0) return null;
  return {
    title: say("status.filteredOut"),
    text: say("status.filteredOutText"),
    actions: [[say("status.removeFilters"), () => store.dispatch(setFilter(null))], ...startAnew],
  };
}
