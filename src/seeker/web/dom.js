// Small helpers to make elements and lists of them.

import { icon } from "./drawing.js";

/** @import { Sign } from "./drawing.js" */

/**
 * Make an element; what is not one of its properties becomes an attribute.
 *
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, unknown>} [properties]
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (key in made && key !== "part") Reflect.set(made, key, value);
    else made.setAttribute(key, String(value));
  }
  made.append(...children);
  return made;
}

/**
 * Make a button with a picture on it, words, or both.
 *
 * @param {string} label its accessible name
 * @param {() => void} action
 * @param {{icon?: Sign, text?: string, className?: string, part?: string, control?: string}} [look]
 */
export function button(label, action, { icon: sign, text, className, part, control } = {}) {
  const made = element("button", { type: "button", className, part, onclick: action });
  if (sign) made.append(icon(sign));
  if (text !== undefined) made.append(element("span", {}, text));
  if (text !== label) made.setAttribute("aria-label", label);
  if (sign && text === undefined) made.title = label;
  if (control) made.dataset.control = control;
  return made;
}

/**
 * Make these the children; what stays is not taken out, so that it keeps the focus.
 *
 * @param {HTMLElement} parent
 * @param {HTMLElement[]} wanted
 */
export function setChildren(parent, wanted) {
  const stays = new Set(wanted);
  for (const child of [...parent.children]) {
    if (!stays.has(/** @type {HTMLElement} */ (child))) child.remove();
  }
  let next = parent.firstElementChild;
  for (const child of wanted) {
    if (child === next) next = next.nextElementSibling;
    else parent.insertBefore(child, next);
  }
}

/**
 * Make these the children of a list: what is there already under the same key stays as it is, and
 * if what had the focus goes, the one that comes to stand in its place gets it.
 *
 * @param {HTMLElement} list
 * @param {[key: string, make: () => HTMLElement][]} wanted
 */
export function setEntries(list, wanted) {
  const there = new Map(
    [...list.children].map((child) => [/** @type {HTMLElement} */ (child).dataset.key, child]),
  );
  const root = /** @type {ShadowRoot | Document} */ (list.getRootNode());
  const place = [...list.children].findIndex((child) => child.contains(root.activeElement));
  const entries = wanted.map(([key, make]) => {
    const entry = /** @type {HTMLElement} */ (there.get(key) ?? make());
    there.delete(key);
    entry.dataset.key = key;
    return entry;
  });
  setChildren(list, entries);
  if (place < 0 || list.contains(root.activeElement)) return;
  entries[Math.min(place, entries.length - 1)]?.querySelector("button")?.focus();
}
