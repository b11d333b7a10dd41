// Elements of HTML and SVG, lists of them that keep the focus, and the icons.

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
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (key in node && key !== "part") Reflect.set(node, key, value);
    else node.setAttribute(key, String(value));
  }
  node.append(...children);
  return node;
}

/**
 * Make a button with an icon on it, a text, or both.
 *
 * @param {string} label its accessible name
 * @param {() => void} action
 * @param {{icon?: IconName, text?: string, className?: string, part?: string, control?: string}} [options]
 */
export function button(label, action, { icon: iconName, text, className, part, control } = {}) {
  const node = element("button", { type: "button", className, part, onclick: action });
  if (iconName) node.append(icon(iconName));
  if (text !== undefined) node.append(element("span", {}, text));
  if (text !== label) node.setAttribute("aria-label", label);
  if (iconName && text === undefined) node.title = label;
  if (control) node.dataset.control = control;
  return node;
}

/**
 * Make a button whose text is its name.
 *
 * @param {string} text
 * @param {() => void} action
 * @param {{icon?: IconName, className?: string}} [options]
 */
export const textButton = (text, action, options = {}) => button(text, action, { ...options, text });

/**
 * Make these the children; what stays is not taken out, so that it keeps the focus.
 *
 * @param {HTMLElement} parent
 * @param {HTMLElement[]} children
 */
export function setChildren(parent, children) {
  const stays = new Set(children);
  for (const child of [...parent.children]) {
    if (!stays.has(/** @type {HTMLElement} */ (child))) child.remove();
  }
  let next = parent.firstElementChild;
  for (const child of children) {
    if (child === next) next = next.nextElementSibling;
    else parent.insertBefore(child, next);
  }
}

/**
 * Make these the children of a list: what is there already under the same key stays as it is, and
 * if what had the focus goes, the one that comes to stand in its place gets it.
 *
 * @param {HTMLElement} list
 * @param {[key: string, create: () => HTMLElement][]} entries
 */
export function reconcile(list, entries) {
  const previous = new Map(
    [...list.children].map((child) => [/** @type {HTMLElement} */ (child).dataset.key, child]),
  );
  const root = rootOf(list);
  const focusIndex = [...list.children].findIndex((child) => child.contains(root.activeElement));
  const children = entries.map(([key, create]) => {
    const child = /** @type {HTMLElement} */ (previous.get(key) ?? create());
    previous.delete(key);
    child.dataset.key = key;
    return child;
  });
  setChildren(list, children);
  if (focusIndex < 0 || list.contains(root.activeElement)) return;
  children[Math.min(focusIndex, children.length - 1)]?.querySelector("button")?.focus();
}

/** The tree that knows which of its elements has the focus. @param {Node} node */
export const rootOf = (node) => /** @type {ShadowRoot | Document} */ (node.getRootNode());

/** Write a text only if it is another one: a screen reader reads every change aloud. @param {Element} node @param {string} text */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Our icons, as lines on a square of 24; the stylesheet says how they are drawn. */
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
  similar: ["M8 8V4.5h11.5V16H16", "M4.5 8H16v11.5H4.5z"],
  picture: ["M4 6h16v13H4z", "M4 16l4.5-4.500 4 4 2.500-2.500 5 5", "M15.5 9.500v.1"],
  share: ["M12 15V4", "M8 7.5L12 3.5l4 4", "M6 12v7.5h12V12"],
  plus: ["M12 5v14", "M5 12h14"],
  help: ["M9 9.200a3 3 0 1 1 4.4 2.600c-.9.5-1.4 1.1-1.4 2.2", "M12 17.5v.1"],
  focus: ["M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16z", "M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z"],
  filter: ["M4 7h16", "M7 12h10", "M10 17h4"],
  search: ["M11 4.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13z", "M16 16l4 4"],
  up: ["M6 14.5l6-6 6 6"],
  link: ["M10 14l4-4", "M11 7l2-2a4 4 0 0 1 6 6l-2 2", "M13 17l-2 2a4 4 0 0 1-6-6l2-2"],
};

/** @typedef {keyof typeof ICONS} IconName */

/**
 * Make an element of a drawing.
 *
 * @template {keyof SVGElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, string | number>} [attributes]
 * @param {...Node} children
 * @returns {SVGElementTagNameMap[Name]}
 */
export function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
  node.append(...children);
  return node;
}

/** Make one of our icons; it says nothing to a screen reader. @param {IconName} name */
export function icon(name) {
  const attributes = { viewBox: "0 0 24 24", "aria-hidden": "true", class: `icon ${name}` };
  return svg("svg", attributes, ...ICONS[name].map((d) => svg("path", { d })));
}
