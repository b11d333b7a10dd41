// What of the grid is on screen, and what has been: a click is understood among what was seen.

import { BAR } from "./fit.js";

/** @import { Card } from "./card.js" */

/** Milliseconds after which something was looked at. */
const LOOK = 250;

export class Sight {
  /** What was looked at since this ranking came, and its place. @type {Map<string, number>} */
  #looked = new Map();
  #timer = 0;
  #cards;
  #covered;

  /**
   * @param {() => Iterable<Card>} cards those that are there now
   * @param {() => boolean} covered whether a bar lies over the lower edge
   */
  constructor(cards, covered) {
    this.#cards = cards;
    this.#covered = covered;
  }

  /** Begin with another ranking, of which nothing has been seen. */
  begin() {
    this.#looked.clear();
    this.look();
  }

  /** Note what is on screen, once it stands still. */
  look() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      for (const card of this.#visible()) this.#looked.set(card.item.id, placeOf(card));
    }, LOOK);
  }

  end() {
    clearTimeout(this.#timer);
  }

  /**
   * Among which items one was clicked: those on screen now, and those of the same page's length
   * around it at which the person has stopped to look since this ranking came.
   *
   * @param {string} clicked
   * @param {Card | undefined} card its card, if there is one
   * @param {number} page how many items a page has
   */
  around(clicked, card, page) {
    const here = card ? placeOf(card) : NaN;
    const looked = [...this.#looked].filter(([, place]) => Math.abs(place - here) < page).map(([id]) => id);
    return [...new Set([clicked, ...this.#visible().map(({ item }) => item.id), ...looked])];
  }

  /** The cards of which at least a third is on screen. */
  #visible() {
    const floor = innerHeight - (this.#covered() ? BAR : 0);
    return [...this.#cards()].filter(({ element }) => {
      const box = element.getBoundingClientRect();
      return Math.min(box.bottom, floor) - Math.max(box.top, 0) > box.height / 3;
    });
  }
}

/** @param {Card} card @returns {number} its place in the ranking, from 0 */
const placeOf = ({ element }) => Number(element.dataset.place);
