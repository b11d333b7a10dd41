// What is shown instead of items: why there are none, and what can be done.

import { button, element } from "./dom.js";
import { narrow, travel } from "./verbs.js";

/** @import { Search } from "./search.js" */
/** @import { Session } from "./types.js" */

/** @typedef {{title: string, text: string, ways: [string, () => void][]}} Reason */

export class State {
  /** @type {string | null} */
  #told = null;

  constructor() {
    this.element = element("section", { className: "state", part: "state", hidden: true });
  }

  /** @param {Reason | null} reason nothing: there is something to show */
  show(reason) {
    this.element.hidden = !reason;
    // What is there already stays, and keeps the focus.
    const told = reason && `${reason.title} ${reason.text}`;
    if (told === this.#told) return;
    this.#told = told;
    if (!reason) return this.element.replaceChildren();
    const ways = reason.ways.map(([text, way], index) =>
      button(text, way, { text, className: index ? "" : "primary" }),
    );
    this.element.replaceChildren(
      element("h2", {}, reason.title),
      element("p", {}, reason.text),
      element("div", { className: "verdicts" }, ...ways),
    );
  }
}

/** Whether there is nothing to see that has not been judged. @param {Session | null} answer */
export function exhausted(answer) {
  if (!answer || answer.found || !answer.page.items.length) return false;
  const judged = new Set([...answer.likes, ...answer.dislikes]);
  return answer.page.items.every((item) => judged.has(item.id));
}

/**
 * @param {Search} search
 * @param {boolean} free whether another search may be started here
 * @param {{anew: () => void, again: () => void}} ways
 * @returns {Reason | null}
 */
export function stateOf(search, free, { anew, again }) {
  const { phase, trouble, answer } = search;
  /** @type {[string, () => void][]} */
  const afresh = free ? [["Start anew", anew]] : [];
  if (phase === "gone")
    return {
      title: "This search is no longer kept.",
      text: "Searches are forgotten after a while without a click.",
      ways: afresh,
    };
  if (phase === "failed")
    return { title: "That did not work.", text: trouble, ways: [["Try again", again], ...afresh] };
  if (phase !== "ready" || !answer) return null;
  if (exhausted(answer))
    return {
      title: "Nothing is left.",
      text: "You have rated everything there is.",
      ways: [["Undo the last", () => search.do(travel(-1))]],
    };
  if (answer.page.total > 0) return null;
  return {
    title: "Nothing passes these filters.",
    text: "Remove some of them, or all.",
    ways: [["Remove the filters", () => search.do(narrow(null))], ...afresh],
  };
}
