// How it works, in a few words, and the keys.

import { makeDialog } from "./dialog.js";
import { button, element } from "./dom.js";

/** @type {[string, string][]} */
const KEYS = [
  ["← → ↑ ↓", "go from item to item"],
  ["L or +", "like it"],
  ["D or −", "dislike it"],
  ["Enter", "open it"],
  ["U", "undo"],
  ["R", "redo"],
  ["/", "type words"],
  ["?", "this help"],
];

/** @returns {HTMLDialogElement} */
export function helpDialog() {
  const dialog = makeDialog(
    "help",
    { "aria-label": "Help" },
    element(
      "div",
      { className: "inside" },
      element("h2", {}, "How it works"),
      element(
        "p",
        {},
        "Think of something. Like what comes close to it, dislike what does not: every click brings a better page. When you see it, open it and press Found it.",
      ),
      element("p", {}, "On a touch screen, swipe a card to the right to like it, to the left to dislike it."),
      element("h2", {}, "Keys"),
      element(
        "dl",
        { className: "keys" },
        ...KEYS.flatMap(([key, does]) => [
          element("dt", {}, element("kbd", {}, key)),
          element("dd", {}, does),
        ]),
      ),
      button("Close", () => dialog.close(), { text: "Close", className: "primary" }),
    ),
  );
  return dialog;
}
