// The way so far: a strip of steps that can be gone back to, and forward again.

import { faceOf } from "./card.js";
import { button, element, icon } from "./dom.js";
import { happened } from "./sentences.js";

/** @import { Search } from "./search.js" */
/** @import { Happening } from "./types.js" */

const SIGNS = /** @type {const} */ ({ like: "heart", dislike: "cross", clear: "undo" });

export class Steps {
  /** What undo has taken back, in order, as far as it was seen here. @type {Happening[]} */
  #ahead = [];
  /** @type {Happening[]} */
  #past = [];
  #session = "";
  #travel;

  /** @param {(by: number) => void} travel by how many steps to go back (below zero) or forward */
  constructor(travel) {
    this.#travel = travel;
    this.list = element("ol", { className: "strip", part: "steps", "aria-label": "Steps" });
    this.element = element("section", { className: "steps" }, element("h2", {}, "Your steps"), this.list);
  }

  /** @param {Search} search */
  show(search) {
    const { answer } = search;
    if (!answer) return;
    this.#follow(answer.id, answer.history, answer.undone);
    this.element.hidden = !answer.history.length && !this.#ahead.length;
    const here = answer.history.length;
    const all = [...answer.history, ...this.#ahead];
    const title = (/** @type {string} */ id) => search.item(id).title || id;
    const start = this.#step("Go back to the start", "Start", -here, here === 0, search.readOnly);
    this.list.replaceChildren(
      start,
      ...all.map((happening, index) => {
        const said = happened(happening, title);
        const by = index + 1 - here;
        const label =
          by > 0 ? `Go forward to step ${index + 1}: ${said}` : `Go back to step ${index + 1}: ${said}`;
        const entry = this.#step(label, "", by, by === 0, search.readOnly);
        entry.classList.toggle("ahead", by > 0);
        entry.title = said;
        entry.firstElementChild?.append(...this.#look(happening, search));
        return entry;
      }),
    );
    const current = this.list.querySelector("[aria-current]");
    if (current instanceof HTMLElement) this.list.scrollLeft = current.offsetLeft - this.list.clientWidth / 2;
  }

  /** Remember what was taken back. @param {string} session @param {Happening[]} history @param {number} undone */
  #follow(session, history, undone) {
    if (session !== this.#session) this.#past = this.#ahead = [];
    this.#session = session;
    const known = [...this.#past, ...this.#ahead];
    this.#ahead = undone > 0 && known.length === history.length + undone ? known.slice(history.length) : [];
    this.#past = history;
  }

  /** @param {string} label @param {string} text @param {number} by @param {boolean} here @param {boolean} readOnly */
  #step(label, text, by, here, readOnly) {
    const made = button(label, () => by && this.#travel(by), text ? { text } : {});
    made.disabled = readOnly;
    if (here) made.setAttribute("aria-current", "step");
    return element("li", {}, made);
  }

  /** @param {Happening} happening @param {Search} search @returns {Node[]} */
  #look(happening, search) {
    switch (happening.type) {
      case "click":
        return [faceOf(search.item(happening.item ?? "")), icon(SIGNS[happening.verdict ?? "clear"])];
      case "found":
        return [faceOf(search.item(happening.item ?? "")), icon("check")];
      case "say":
        return [element("span", { className: "said" }, happening.text ?? "")];
      case "unsay":
        return [element("s", { className: "said" }, happening.text ?? "")];
      case "filter":
        return [icon("filter")];
      case "exploration":
        return [icon("spark")];
      default:
        return [];
    }
  }
}
