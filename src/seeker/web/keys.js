// The keys: everything on the page can be done with them.

import { element } from "./dom.js";

/** @typedef {"like" | "dislike" | "undo" | "redo" | "help" | "words" | "left" | "right" | "up" | "down"} Command */

/** @type {Record<string, Command>} */
const KEYS = {
  l: "like", "+": "like", "=": "like",
  d: "dislike", "-": "dislike",
  u: "undo", r: "redo", "?": "help", "/": "words",
  arrowleft: "left", arrowright: "right", arrowup: "up", arrowdown: "down",
};

/** What the help says. @type {[string, string][]} */
const HELP = [
  ["← → ↑ ↓", "go from item to item"],
  ["L or +", "like it"],
  ["D or −", "dislike it"],
  ["Enter", "open it"],
  ["U", "undo"],
  ["R", "redo"],
  ["/", "type words"],
  ["?", "this help"],
];

/** @param {KeyboardEvent} event @returns {Command | null} */
export function commandOf(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return null;
  const [target] = event.composedPath();
  if (target instanceof HTMLElement && target.matches("input, select, textarea, [contenteditable]")) return null;
  return KEYS[event.key.toLowerCase()] ?? null;
}

/** @returns {HTMLDialogElement} */
export function helpDialog() {
  const close = element("button", { type: "button", className: "primary" }, "Close");
  const dialog = element("dialog", { className: "help", "aria-label": "Help" },
    element("div", { className: "inside" },
      element("h2", {}, "How it works"),
      element("p", {}, "Think of something. Like what comes close to it, dislike what does not: every click brings a better page. When you see it, open it and press Found it."),
      element("p", {}, "On a touch screen, swipe a card to the right to like it, to the left to dislike it."),
      element("h2", {}, "Keys"),
      element("dl", { className: "keys" }, ...HELP.flatMap(([key, does]) => [element("dt", {}, element("kbd", {}, key)), element("dd", {}, does)])),
      close));
  close.onclick = () => dialog.close();
  return dialog;
}
