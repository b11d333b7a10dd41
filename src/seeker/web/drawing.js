// Drawings: our signs, and the elements of larger ones.

/** Our signs, as lines on a square of 24; the stylesheet says how they are drawn. */
const ICONS = {
  mark: [
    "M1.5 4C9 4 10.5 12 15.5 12 10.5 12 9 20 1.5 20z",
    "M22 12a3.2 3.2 0 1 1-6.4 0 3.2 3.2 0 0 1 6.4 0z",
  ],
  heart: [
    "M12 20.3C5.6 15.9 3 12.7 3 9.2 3 6.6 5 4.6 7.5 4.6c1.8 0 3.5 1 4.5 2.7 1-1.7 2.7-2.7 4.5-2.700C19 4.6 21 6.6 21 9.200c0 3.5-2.6 6.7-9 11.100z",
  ],
  cross: ["M6 6l12 12", "M18 6L6 18"],
  check: ["M5 12.5l4.5 4.5L19 7.5"],
  undo: ["M9 6L4.5 10.5 9 15", "M5 10.5h9a5 5 0 0 1 0 10h-2"],
  redo: ["M15 6l4.5 4.5L15 15", "M19 10.5h-9a5 5 0 0 0 0 10h2"],
  spark: [
    "M12 3.5l1.9 5.6 5.6 1.9-5.6 1.900L12 18.5l-1.9-5.600L4.5 11l5.6-1.900z",
    "M19 16.5v4",
    "M17 18.5h4",
  ],
  share: ["M12 15V4", "M8 7.5L12 3.5l4 4", "M6 12v7.5h12V12"],
  plus: ["M12 5v14", "M5 12h14"],
  help: ["M9 9.200a3 3 0 1 1 4.4 2.600c-.9.5-1.4 1.1-1.4 2.2", "M12 17.5v.1"],
  filter: ["M4 7h16", "M7 12h10", "M10 17h4"],
  search: ["M11 4.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13z", "M16 16l4 4"],
  up: ["M6 14.5l6-6 6 6"],
  link: ["M10 14l4-4", "M11 7l2-2a4 4 0 0 1 6 6l-2 2", "M13 17l-2 2a4 4 0 0 1-6-6l2-2"],
};

/** @typedef {keyof typeof ICONS} Sign */

/**
 * Make an element of a drawing.
 *
 * @template {keyof SVGElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, string | number>} [attributes]
 * @param {...Node} children
 * @returns {SVGElementTagNameMap[Name]}
 */
export function drawing(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}

/**
 * Make one of our signs; it says nothing to a screen reader.
 *
 * @param {Sign} name
 */
export function icon(name) {
  const sign = drawing("svg", { viewBox: "0 0 24 24", "aria-hidden": "true", class: `icon ${name}` });
  for (const d of ICONS[name]) sign.append(drawing("path", { d }));
  return sign;
}
