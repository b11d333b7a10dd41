// Beside the grid, or below it on a small screen: where the search stands, and the way here.

import { BeliefPicture } from "./belief.js";
import { button, element } from "./dom.js";
import { icon } from "./drawing.js";
import { Steps } from "./steps.js";
import { Trays } from "./trays.js";
import { explore } from "./verbs.js";

/** @import { Search } from "./search.js" */

/** So much more exploration than usual: about half of the page leaves the beaten track. */
const SURPRISING = 4;

/**
 * @typedef {object} Ways
 * @property {(item: string) => void} clear
 * @property {(by: number) => void} travel
 */

export class Panel {
  #plain;
  #search;

  /** @param {Search} search @param {Ways} ways @param {boolean} plain */
  constructor(search, ways, plain) {
    this.#search = search;
    this.#plain = plain;
    this.belief = new BeliefPicture();
    this.trays = new Trays(ways.clear);
    this.steps = new Steps(ways.travel);
    this.undo = button("Undo", () => ways.travel(-1), { icon: "undo" });
    this.redo = button("Redo", () => ways.travel(1), { icon: "redo" });
    this.surprise = button("Surprise me", () => this.#surprise(), {
      icon: "spark",
      text: "Surprise me",
      className: "surprise",
    });
    this.more = element(
      "button",
      {
        type: "button",
        className: "more",
        "aria-expanded": "false",
        "aria-controls": "way",
        onclick: () => this.#toggle(),
      },
      element("i", { className: "hearts" }, icon("heart")),
      element("i", { className: "crosses" }, icon("cross")),
      icon("up"),
    );
    this.tools = element(
      "div",
      { className: "tools" },
      this.undo,
      this.redo,
      ...(plain ? [] : [this.surprise, this.more]),
    );
    this.way = element(
      "div",
      { className: "way", id: "way" },
      this.trays.element,
      ...(plain ? [] : [this.steps.element]),
    );
    this.element = element(
      "aside",
      { className: "panel", part: "panel", "aria-label": "Your search" },
      ...(plain ? [] : [this.belief.element]),
      this.tools,
      this.way,
    );
  }

  show() {
    const { answer, foreseen, readOnly } = this.#search;
    if (!answer) return;
    this.trays.show(this.#search);
    this.undo.disabled = readOnly || answer.step === 0;
    this.redo.disabled = readOnly || !answer.undone;
    this.tools.classList.toggle("ahead", answer.undone > 0);
    this.tools.hidden = readOnly;
    if (this.#plain) return;
    this.belief.show(answer);
    this.steps.show(this.#search);
    this.surprise.setAttribute("aria-pressed", String(answer.exploration > 1));
    this.#count("hearts", foreseen.likes.length);
    this.#count("crosses", foreseen.dislikes.length);
    this.more.setAttribute(
      "aria-label",
      `Your search: ${foreseen.likes.length} liked, ${foreseen.dislikes.length} disliked`,
    );
  }

  /** @param {"hearts" | "crosses"} sign @param {number} count */
  #count(sign, count) {
    const place = this.more.querySelector(`.${sign}`);
    // Drawn by the stylesheet: the button's name says it in words.
    if (place instanceof HTMLElement) place.dataset.count = String(count);
  }

  #surprise() {
    this.#search.do(explore((this.#search.answer?.exploration ?? 1) > 1 ? 1 : SURPRISING));
  }

  #toggle() {
    const open = this.element.classList.toggle("open");
    this.more.setAttribute("aria-expanded", String(open));
    if (open) this.steps.reveal();
  }
}
