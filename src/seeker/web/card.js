// One item as a card: its picture or its words, and what can be said about it.

import { button, element } from "./dom.js";
import { faceOf, spoken } from "./face.js";
import { titleOf } from "./item.js";

/** @import { Item } from "./types.js" */

/**
 * @typedef {object} Ways what a card can do
 * @property {(item: Item) => void} open
 * @property {(item: Item) => void} found
 * @property {(item: Item, verdict: "like" | "dislike") => void} judge
 */
/** @typedef {{element: HTMLLIElement, item: Item}} Card */

/**
 * Make a card.
 *
 * @param {Item} item
 * @param {Ways} ways
 * @returns {Card}
 */
export function makeCard(item, ways) {
  const title = titleOf(item);
  const face = element("button", {
    type: "button",
    className: "face",
    part: "picture",
    "aria-label": `Open ${spoken(item)}`,
    onclick: () => ways.open(item),
  });
  face.dataset.control = "open";
  face.append(faceOf(item));
  const card = element(
    "li",
    { className: "card", part: "card" },
    face,
    element(
      "div",
      { className: "corner" },
      button(`Why this? ${title}`, () => ways.open(item), {
        text: "Why this?",
        className: "why",
        control: "why",
      }),
      button(`Found it: ${title}`, () => ways.found(item), {
        text: "Found it",
        icon: "check",
        className: "found",
        control: "found",
      }),
    ),
    element(
      "div",
      { className: "foot" },
      button(`Dislike ${title}`, () => ways.judge(item, "dislike"), {
        icon: "cross",
        className: "dislike",
        part: "dislike",
        control: "dislike",
      }),
      element("span", { className: "title", part: "title", title, dir: "auto" }, title),
      button(`Like ${title}`, () => ways.judge(item, "like"), {
        icon: "heart",
        className: "like",
        part: "like",
        control: "like",
      }),
    ),
  );
  card.dataset.id = item.id;
  return { element: card, item };
}

/** Make a card for an item that is still on its way. @returns {HTMLLIElement} */
export function makeSkeleton() {
  return element(
    "li",
    { className: "card skeleton", "aria-hidden": "true" },
    element("div", { className: "face" }),
    element("div", { className: "foot" }),
  );
}

/**
 * Show what is thought of the item.
 *
 * @param {Card} card
 * @param {"like" | "dislike" | null} verdict
 */
export function judgeCard(card, verdict) {
  card.element.classList.toggle("liked", verdict === "like");
  card.element.classList.toggle("disliked", verdict === "dislike");
  for (const kind of ["like", "dislike"]) {
    const pressed = String(verdict === kind);
    control(card.element, kind)?.setAttribute("aria-pressed", pressed);
  }
}

/** @param {Element} card @param {string} name @returns {HTMLElement | null} */
export function control(card, name) {
  return card.querySelector(`[data-control="${name}"]`);
}
