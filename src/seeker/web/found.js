// The end of a search: what was found, how long it took, and the way there.

import { faceOf } from "./card.js";
import { button, element, icon } from "./dom.js";
import { counted, duration, happened } from "./sentences.js";

/** @import { Search } from "./search.js" */
/** @import { Item, Session } from "./types.js" */

/**
 * @typedef {object} Ways
 * @property {() => void} again
 * @property {() => void} keepLooking
 * @property {() => void} share
 * @property {() => Promise<number | null>} seconds how long the search took, if that can be known
 * @property {(item: Item, catalog: string) => string} address
 */

export class Found {
  #ways;
  #shown = "";

  /** @param {Ways} ways */
  constructor(ways) {
    this.#ways = ways;
    this.element = element("section", {
      className: "summary",
      part: "found",
      "aria-label": "Found",
      hidden: true,
    });
  }

  /** @param {Search} search */
  show(search) {
    const { answer } = search;
    this.element.hidden = !answer?.found;
    if (!answer?.found) {
      this.#shown = "";
      return;
    }
    const item = search.item(answer.found);
    const way = answer.history.map((one) => (one.item === undefined ? "" : search.item(one.item).title));
    const key = JSON.stringify([answer.id, answer.step, item.media, item.title, ...way]);
    if (key === this.#shown) return;
    const arrived = this.#shown === "";
    this.#shown = key;
    this.#fill(search, answer, item);
    if (arrived && !search.readOnly) this.element.querySelector("h2")?.focus();
  }

  /** @param {Search} search @param {Session} answer @param {Item} item */
  #fill(search, answer, item) {
    const steps = answer.history.filter((one) => one.type !== "found").length;
    const title = item.title || item.id;
    const took = element(
      "p",
      { className: "took" },
      steps ? `In ${counted(steps, "step")}.` : "At first sight.",
    );
    const tools = element(
      "div",
      { className: "verdicts" },
      element(
        "a",
        {
          className: "primary",
          href: this.#ways.address(item, answer.catalog),
          target: "_blank",
          rel: "noopener noreferrer",
        },
        icon("link"),
        "Open the item",
      ),
    );
    if (!search.readOnly) {
      tools.append(
        button("Share", this.#ways.share, { icon: "share", text: "Share" }),
        button("Keep looking", this.#ways.keepLooking, { icon: "undo", text: "Keep looking" }),
        button("Search for something else", this.#ways.again, {
          icon: "plus",
          text: "Search for something else",
        }),
      );
    }
    this.element.replaceChildren(
      element("div", { className: item.media ? "large" : "large wordy" }, faceOf(item)),
      element(
        "div",
        { className: "about" },
        element("p", { className: "soft" }, search.readOnly ? "Found" : "You found it"),
        element("h2", { tabIndex: -1 }, title),
        took,
        ...(steps ? [this.#path(search, answer)] : []),
        tools,
      ),
    );
    this.#ways.seconds().then((seconds) => {
      if (seconds !== null && steps)
        took.textContent = `In ${counted(steps, "step")} and ${duration(seconds)}.`;
    });
  }

  /** @param {Search} search @param {Session} answer */
  #path(search, answer) {
    return element(
      "ol",
      { className: "path", "aria-label": "The way there" },
      ...answer.history.map((one) => {
        const said = happened(one, (id) => search.item(id).title || id);
        const entry = element("li", { title: said });
        if (one.item === undefined) {
          entry.append(element("span", { className: "said" }, said));
        } else {
          const face = faceOf(search.item(one.item));
          if (face instanceof HTMLImageElement) face.alt = said;
          entry.append(
            face,
            icon(one.type === "found" ? "check" : one.verdict === "like" ? "heart" : "cross"),
          );
          entry.className = one.type === "found" ? "end" : (one.verdict ?? "");
        }
        return entry;
      }),
    );
  }
}
