// An item's face: its picture, or a readable text where there is none or it cannot be loaded.

import { element } from "./dom.js";
import { summary, titleOf } from "./item.js";

/** @import { Item } from "./types.js" */

const SEPARATOR = " · ";

/**
 * Make an item's face.
 *
 * @param {Item} item
 * @param {string} alt what is heard of a picture; nothing where its title is told beside it
 * @returns {HTMLElement}
 */
export function faceOf(item, alt = "") {
  if (!item.media) return wordsOf(item);
  const picture = element("img", { alt, decoding: "async", draggable: false });
  // Without this, a site that shows Seeker from elsewhere would not be let near the pictures.
  if (new URL(item.media, location.href).origin !== location.origin) picture.crossOrigin = "anonymous";
  picture.onerror = () => picture.replaceWith(wordsOf(item));
  picture.src = item.media;
  return picture;
}

/** What is heard of an item where others see its face. @param {Item} item */
export function spoken(item) {
  if (item.media) return titleOf(item);
  const { lead, facts } = summary(item);
  return [titleOf(item), facts.join(SEPARATOR), lead].filter(Boolean).join(" ");
}

/** @param {Item} item */
function wordsOf(item) {
  const { lead, facts } = summary(item);
  // Each for itself, for each may be written in another direction.
  const own = { dir: "auto" };
  const told = facts.flatMap((one, index) => [...(index ? [SEPARATOR] : []), element("span", own, one)]);
  return element(
    "span",
    { className: "words" },
    element("strong", own, titleOf(item)),
    ...(told.length ? [element("small", {}, ...told)] : []),
    ...(lead ? [element("span", own, lead)] : []),
  );
}
