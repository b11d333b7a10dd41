// The items on display: the head of a ranking, the way further down, and what is to be said of its end.

import { button, element } from "./dom.js";
import { Ranking } from "./ranking.js";
import { counted } from "./sentences.js";
import { exhausted } from "./state.js";

/** @import { Grid } from "./grid.js" */
/** @import { Page, Session } from "./types.js" */

const PARTIAL = "Part of the catalog cannot be asked just now: better items may be missing.";

export class Listing {
  /** Whether the whole ranking can be scrolled through. */
  explored = false;
  /** @type {Ranking | null} */
  #ranking = null;
  #grid;
  #moved;

  /**
   * @param {Grid} grid
   * @param {() => void} explore called when somebody wants to see more
   * @param {() => void} moved called when the service has another ranking than the one shown
   */
  constructor(grid, explore, moved) {
    this.#grid = grid;
    this.#moved = moved;
    this.more = button("Explore more", explore, { text: "Explore more", className: "explore" });
    this.partial = element("p", {
      className: "partial soft",
      part: "partial",
      "aria-live": "polite",
      hidden: true,
    });
    this.end = element("p", { className: "end soft", hidden: true });
  }

  /**
   * Show a new ranking.
   *
   * @param {Session} answer
   * @param {boolean} explored
   * @param {(offset: number, limit: number) => Promise<Page | null>} fetch
   */
  begin(answer, explored, fetch) {
    const ranking = new Ranking(answer.page, fetch, (problem) => {
      if (ranking !== this.#ranking) return;
      if (problem === "moved") return this.#moved();
      this.#grid.update();
      this.#say();
    });
    this.#ranking = ranking;
    this.explored = explored;
    this.#grid.show(ranking, exhausted(answer) ? 0 : explored ? ranking.total : ranking.first);
  }

  /** Let the whole ranking be scrolled through. */
  explore() {
    if (!this.#ranking) return;
    this.explored = true;
    this.#grid.widen(this.#ranking.total);
    // The button that had the focus goes: go on where the new items begin.
    this.#grid.focusWhenThere(this.#ranking.first);
  }

  /** @param {Session | null} answer @param {boolean} shown whether there is room for items now */
  update(answer, shown) {
    this.#grid.stage.hidden = !shown;
    const further = shown && answer !== null && !exhausted(answer);
    this.more.hidden = !further || this.explored || answer.page.items.length >= answer.page.total;
    this.end.hidden = !further || !this.explored;
    this.#say();
  }

  #say() {
    const { partial = false, total = 0 } = this.#ranking ?? {};
    this.partial.hidden = !partial || this.#grid.stage.hidden;
    // Written only if it has changed: a screen reader reads every change aloud.
    const said = partial ? PARTIAL : "";
    if (this.partial.textContent !== said) this.partial.textContent = said;
    this.end.textContent = partial
      ? "That is all that can be shown just now."
      : `That is all there is: ${counted(total, "item")}.`;
  }
}
