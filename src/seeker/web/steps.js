// The way so far: a strip of steps that can be gone back to, and forward again.

import { element, setEntries } from "./dom.js";
import { icon } from "./drawing.js";
import { faceOf } from "./face.js";
import { titleOf } from "./item.js";
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
  /** Which step the search is at. */
  #here = 0;
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
    const here = answer.history.length;
    const all = [...answer.history, ...this.#ahead];
    const said = all.map((one) => happened(one, (id) => titleOf(search.item(id))));
    this.element.hidden = !all.length;
    setEntries(this.list, [
      ["start", () => this.#entry(0, "", [element("span", {}, "Start")])],
      ...all.map((one, index) => this.#wanted(one, index, said[index] ?? "", search)),
    ]);
    ["the start", ...said.map((one, index) => `step ${index + 1}: ${one}`)].forEach((what, step) =>
      this.#mark(step, what, here, search.readOnly),
    );
    if (here === this.#here) return;
    this.#here = here;
    this.reveal();
  }

  /** Bring the step that the search is at into sight. */
  reveal() {
    const strip = this.list.getBoundingClientRect();
    const entry = this.list.children[this.#here]?.getBoundingClientRect();
    if (entry) this.list.scrollLeft += entry.left + entry.width / 2 - strip.left - strip.width / 2;
  }

  /** Remember what was taken back. @param {string} session @param {Happening[]} history @param {number} undone */
  #follow(session, history, undone) {
    if (session !== this.#session) this.#past = this.#ahead = [];
    this.#session = session;
    const known = [...this.#past, ...this.#ahead];
    this.#ahead = undone > 0 && known.length === history.length + undone ? known.slice(history.length) : [];
    this.#past = history;
  }

  /** @param {Happening} happening @param {number} index @param {string} said @param {Search} search @returns {[string, () => HTMLElement]} */
  #wanted(happening, index, said, search) {
    const media = happening.item === undefined ? null : search.item(happening.item).media;
    const make = () => this.#entry(index + 1, said, this.#look(happening, search));
    return [JSON.stringify([index, said, media]), make];
  }

  /** @param {number} step @param {string} said @param {Node[]} look */
  #entry(step, said, look) {
    const made = element("button", { type: "button", onclick: () => this.#go(step) }, ...look);
    return element("li", { title: said }, made);
  }

  /** @param {number} step */
  #go(step) {
    if (step !== this.#here) this.#travel(step - this.#here);
  }

  /** Say how a step stands to where the search is. @param {number} step @param {string} what @param {number} here @param {boolean} readOnly */
  #mark(step, what, here, readOnly) {
    const entry = this.list.children[step];
    const made = entry?.querySelector("button");
    if (!entry || !made) return;
    entry.classList.toggle("ahead", step > here);
    made.disabled = readOnly;
    made.setAttribute("aria-label", `${step > here ? "Go forward" : "Go back"} to ${what}`);
    if (step === here) made.setAttribute("aria-current", "step");
    else made.removeAttribute("aria-current");
  }

  /** @param {Happening} happening @param {Search} search @returns {Node[]} */
  #look(happening, search) {
    switch (happening.type) {
      case "click":
        return [faceOf(search.item(happening.item ?? "")), icon(SIGNS[happening.verdict ?? "clear"])];
      case "found":
        return [faceOf(search.item(happening.item ?? "")), icon("check")];
      case "say":
        return [element("span", { className: "said", dir: "auto" }, happening.text ?? "")];
      case "unsay":
        return [element("s", { className: "said", dir: "auto" }, happening.text ?? "")];
      case "filter":
        return [icon("filter")];
      case "exploration":
        return [icon("spark")];
      default:
        return [];
    }
  }
}
