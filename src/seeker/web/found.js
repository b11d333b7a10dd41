// The end of a search: what was found, how long it took, and the way there.

import { button, element } from "./dom.js";
import { icon } from "./drawing.js";
import { faceOf } from "./face.js";
import { itemAddress, titleOf } from "./item.js";
import { counted, duration, happened } from "./sentences.js";

/** @import { Search } from "./search.js" */
/** @import { Item, Session } from "./types.js" */

/**
 * @typedef {object} Ways
 * @property {() => void} again
 * @property {() => void} keepLooking
 * @property {() => void} share
 * @property {() => Promise<number | null>} seconds how long the search took, if that can be known
 * @property {(item: Item) => void} open
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
    const title = titleOf(item);
    const took = element(
      "p",
      { className: "took" },
      steps ? `In ${counted(steps, "step")}.` : "At first sight.",
    );
    const tools = element("div", { className: "verdicts" }, this.#opener(item));
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
      ...(item.media ? [element("div", { className: "large" }, faceOf(item))] : []),
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

  /** The way to the item itself: its own page or its picture, or else all that is known of it. @param {Item} item */
  #opener(item) {
    const href = itemAddress(item);
    const text = "Open the item";
    if (!href) return button(text, () => this.#ways.open(item), { text, className: "primary" });
    const properties = { className: "primary", href, target: "_blank", rel: "noopener noreferrer" };
    return element("a", properties, icon("link"), text);
  }

  /** @param {Search} search @param {Session} answer */
  #path(search, answer) {
    return element(
      "ol",
      { className: "path", "aria-label": "The way there" },
      ...answer.history.map((one) => {
        const said = happened(one, (id) => titleOf(search.item(id)));
        const entry = element("li", { title: said });
        if (one.item === undefined) {
          entry.append(element("span", { className: "said" }, said));
        } else {
          entry.append(
            faceOf(search.item(one.item), said),
            icon(one.type === "found" ? "check" : one.verdict === "like" ? "heart" : "cross"),
          );
          entry.className = one.type === "found" ? "end" : (one.verdict ?? "");
        }
        return entry;
      }),
    );
  }
}
