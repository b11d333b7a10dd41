// One item as a card: its picture or its words, and what can be said about it.

import { button, element } from "../dom.js";
import { amount, date, list, say } from "../strings.js";

/** @import { AttributeFormat, Formats, Item } from "../types.js" */
/** @import { CardSlots } from "./slots.js" */

/** Texts longer than this are for reading, shorter ones are facts. */
const LONGEST_FACT = 40;
/** A day of the calendar, as tables have it. */
const DAY = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;
/** How wide an opened item's picture is. */
export const LARGE_PICTURE = "(max-width: 700px) 90vw, 400px";
/** As many facts as go with a title. */
const MOST_FACTS = 3;

/**
 * @typedef {object} CardHandlers
 * @property {(item: Item) => void} open
 * @property {(item: Item) => void} finish
 * @property {(item: Item, verdict: "like" | "dislike") => void} rate
 * @property {((item: Item) => void) | null} similar begins a search for more like it, where that can be done
 * @property {CardSlots} slots what the site around us wants on cards
 */
/** @typedef {{element: HTMLLIElement, item: Item, formats: Formats}} Card */

/** Nothing is said of how attributes are shown. @type {Formats} */
export const NO_FORMATS = {};

/** @param {Item} item @param {CardHandlers} handlers @param {number} width how wide its face is about, in pixels @returns {Card} */
export function createCard(item, handlers, width) {
  const title = itemTitle(item);
  const face = element("button", {
    type: "button",
    className: "face",
    part: "picture",
    "aria-label": say("card.open", { title: itemDescription(item) }),
    onclick: () => handlers.open(item),
  });
  face.dataset.control = "open";
  const sizes = `${width}px`;
  face.append(handlers.slots.place("card", item, sizes) ?? itemFace(item, "", sizes));
  const { similar } = handlers;
  const actions = handlers.slots.place("actions", item, sizes);
  const card = element(
    "li",
    { className: "card", part: "card" },
    face,
    element(
      "div",
      { className: "corner" },
      button(say("card.why", { title }), () => handlers.open(item), {
        text: say("whyThis"),
        className: "why",
        control: "why",
      }),
      ...(similar
        ? [
            button(say("card.similar", { title }), () => similar(item), {
              icon: "similar",
              className: "similar",
              part: "similar",
              control: "similar",
            }),
          ]
        : []),
      button(say("foundThis", { title }), () => handlers.finish(item), {
        text: say("foundIt"),
        icon: "check",
        className: "found",
        control: "found",
      }),
    ),
    element(
      "div",
      { className: "foot" },
      button(say("card.dislike", { title }), () => handlers.rate(item, "dislike"), {
        icon: "cross",
        className: "dislike",
        part: "dislike",
        control: "dislike",
      }),
      element("span", { className: "title", part: "title", title, dir: "auto" }, title),
      button(say("card.like", { title }), () => handlers.rate(item, "like"), {
        icon: "heart",
        className: "like",
        part: "like",
        control: "like",
      }),
    ),
    ...(actions ? [element("div", { className: "own-actions", part: "actions" }, actions)] : []),
  );
  card.dataset.id = item.id;
  return { element: card, item, formats: NO_FORMATS };
}

/** Put on a card what its catalog wants there. @param {Card} card @param {Formats} formats */
export function setFormats(card, formats) {
  if (card.formats === formats) return;
  card.formats = formats;
  const { element: place, item } = card;
  const facts = cardFacts(item, formats);
  const lines = facts.length
    ? [
        element("span", { dir: "auto" }, itemTitle(item)),
        element("small", { dir: "auto" }, facts.join(say("card.separator"))),
      ]
    : [itemTitle(item)];
  place.querySelector(".title")?.replaceChildren(...lines);
  if (!item.media) place.querySelector(".words")?.replaceWith(itemText(item, formats));
}

/** What a catalog wants on the card of an item. @param {Item} item @param {Formats} formats */
function cardFacts(item, formats) {
  return knownAttributes(item)
    .filter(([name]) => formats[name]?.card)
    .map(([name, value]) => attributeText(value, formats[name]));
}

/** Make a card for an item that is still on its way. @returns {HTMLLIElement} */
export function createSkeleton() {
  return element(
    "li",
    { className: "card skeleton", "aria-hidden": "true" },
    element("div", { className: "face" }),
    element("div", { className: "foot" }),
  );
}

/** Tell a card's picture how much room it has. @param {Card} card @param {number} width in pixels */
export function setPictureWidth(card, width) {
  const picture = card.element.querySelector(".face img[srcset]");
  if (picture instanceof HTMLImageElement) picture.sizes = `${width}px`;
}

/** @param {Card} card @param {"like" | "dislike" | null} verdict */
export function setVerdict(card, verdict) {
  card.element.classList.toggle("liked", verdict === "like");
  card.element.classList.toggle("disliked", verdict === "dislike");
  for (const kind of ["like", "dislike"]) {
    const pressed = String(verdict === kind);
    findControl(card.element, kind)?.setAttribute("aria-pressed", pressed);
  }
}

/** @param {Element} card @param {string} name @returns {HTMLElement | null} */
export function findControl(card, name) {
  return card.querySelector(`[data-control="${name}"]`);
}

/** @param {Item} item */
export const itemTitle = (item) => item.title || item.id;

/**
 * An item's face: its picture, or a readable text where there is none or it cannot be loaded.
 *
 * @param {Item} item
 * @param {string} alt what is heard of a picture; nothing where its title is told beside it
 * @param {string} [sizes] how wide it is shown, in the words of HTML; without it, in the smallest size
 * @returns {HTMLElement}
 */
export function itemFace(item, alt = "", sizes) {
  if (!item.media) return itemText(item);
  const picture = element("img", { alt, decoding: "async", draggable: false });
  picture.onerror = () => picture.replaceWith(itemText(item));
  setPicture(picture, item.media, sizes && item.pictures, sizes);
  return picture;
}

/**
 * @param {HTMLImageElement} picture
 * @param {string} url
 * @param {Record<string, string> | ""} [choices] the same in other sizes, by pixels each way
 * @param {string} [sizes] how wide it is shown
 */
export function setPicture(picture, url, choices, sizes) {
  // Without this, a site that shows Seeker from elsewhere would not be let near the pictures.
  if (new URL(url, location.href).origin !== location.origin) picture.crossOrigin = "anonymous";
  if (choices) {
    if (sizes) picture.sizes = sizes;
    picture.srcset = Object.entries(choices)
      .map(([size, place]) => `${place} ${size}w`)
      .join(", ");
  }
  picture.src = url;
}

/** @param {Item} item @param {Formats} formats */
function itemText(item, formats = NO_FORMATS) {
  const { lead, facts } = itemSummary(item, formats);
  // Each for itself, for each may be written in another direction.
  const ownDirection = { dir: "auto" };
  const line = facts.flatMap((fact, index) => [
    ...(index ? [say("card.separator")] : []),
    element("span", ownDirection, fact),
  ]);
  return element(
    "span",
    { className: "words" },
    element("strong", ownDirection, itemTitle(item)),
    ...(line.length ? [element("small", {}, ...line)] : []),
    ...(lead ? [element("span", ownDirection, lead)] : []),
  );
}

/** What is heard of an item where others see its face. @param {Item} item */
function itemDescription(item) {
  if (item.media) return itemTitle(item);
  const { lead, facts } = itemSummary(item, NO_FORMATS);
  return [itemTitle(item), facts.join(say("card.separator")), lead].filter(Boolean).join(" ");
}

/** What an item is beside its title: a lead of its longest text, and a few facts. @param {Item} item @param {Formats} formats */
function itemSummary(item, formats) {
  const attributes = knownAttributes(item).filter(([, value]) => !isUrl(value));
  const texts = attributes.flatMap(([, value]) =>
    typeof value === "string" && value.length > LONGEST_FACT ? [value] : [],
  );
  const lead = texts.sort((a, b) => b.length - a.length)[0] ?? "";
  const chosen = cardFacts(item, formats);
  if (chosen.length) return { lead, facts: chosen };
  const facts = attributes
    .map(([name, value]) => factText(attributeLabel(name, formats), value, formats[name]))
    .filter((fact) => fact !== "" && fact.length <= LONGEST_FACT)
    .slice(0, MOST_FACTS);
  return { lead, facts };
}

/**
 * An attribute in few words: a number or a yes says nothing without its name, a no says nothing.
 *
 * @param {string} label
 * @param {unknown} value
 * @param {AttributeFormat} [format]
 */
function factText(label, value, format) {
  if (typeof value === "boolean") return value ? label : "";
  const text = attributeText(value, format);
  return typeof value === "number" ? `${label} ${text}` : text;
}

/** What is known of an item, by attribute. @param {Item} item */
export const knownAttributes = (item) =>
  Object.entries(item.attributes).filter(([, value]) => value !== null && value !== "");

/** @param {string} name an attribute @param {Formats} formats */
export const attributeLabel = (name, formats) => formats[name]?.label || name.replaceAll("_", " ");

/** @param {unknown} value a value of an attribute @param {AttributeFormat} [format] */
export function attributeText(value, format) {
  if (typeof value === "number") return amount(value, format ?? {});
  if (Array.isArray(value)) return list(value.map(String));
  if (typeof value === "boolean") return value ? say("yes") : say("no");
  return typeof value === "string" && DAY.test(value) ? date(value) : String(value);
}

/** @param {unknown} value @returns {value is string} whether it leads to a page */
export const isUrl = (value) => typeof value === "string" && /^https?:\/\/\S+$/.test(value);

/** Where the item can be looked at: its own page, or at least its picture. @param {Item} item @param {Formats} formats */
export function itemUrl(item, formats) {
  const link = Object.keys(formats).find((name) => formats[name]?.link);
  const values = link === undefined ? Object.values(item.attributes) : [item.attributes[link]];
  return values.find(isUrl) ?? item.media;
}
