// The keys: everything on the page can be done with them.

/** @import { Grid } from "./grid.js" */
/** @import { Item } from "./types.js" */

/** @typedef {"like" | "dislike" | "undo" | "redo" | "help" | "words" | "left" | "right" | "up" | "down"} Command */

/** @type {Record<string, Command>} */
const KEYS = {
  l: "like",
  "+": "like",
  "=": "like",
  d: "dislike",
  "-": "dislike",
  u: "undo",
  r: "redo",
  "?": "help",
  "/": "words",
  arrowleft: "left",
  arrowright: "right",
  arrowup: "up",
  arrowdown: "down",
};

/**
 * Hear keys that are typed in the search; where it is the whole page, also before anything has the
 * focus. On a site of others, those keys are theirs.
 *
 * @param {HTMLElement} host
 * @param {AbortSignal} signal ends the listening
 * @param {(command: Command) => boolean} obey returns whether it meant something
 */
export function listenForKeys(host, signal, obey) {
  const hear = (/** @type {KeyboardEvent} */ event) => {
    const command = commandOf(event);
    if (command && obey(command)) event.preventDefault();
  };
  const hearFromBody = (/** @type {KeyboardEvent} */ event) => {
    if (event.target === document.body) hear(event);
  };
  host.addEventListener("keydown", hear, { signal });
  if (host.hasAttribute("whole-page")) document.addEventListener("keydown", hearFromBody, { signal });
}

/** @param {KeyboardEvent} event @returns {Command | null} */
function commandOf(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return null;
  const [target] = event.composedPath();
  if (target instanceof HTMLElement && target.matches("input, select, textarea, [contenteditable]"))
    return null;
  return KEYS[event.key.toLowerCase()] ?? null;
}

/**
 * @typedef {object} Ways what keys can do beside moving
 * @property {(item: Item, verdict: "like" | "dislike") => void} judge
 * @property {() => void} undo
 * @property {() => void} redo
 * @property {(() => void) | null} help
 * @property {(() => void) | null} words
 */

/** @param {Command} command @param {Grid} grid @param {Ways} ways @returns {boolean} whether it meant something */
export function obey(command, grid, ways) {
  const { current } = grid;
  switch (command) {
    case "like":
    case "dislike":
      if (current) ways.judge(current, command);
      return current !== null;
    case "undo":
    case "redo":
      ways[command]();
      return true;
    case "help":
    case "words":
      ways[command]?.();
      return ways[command] !== null;
    default:
      // Without a card in focus, up and down are for scrolling.
      if (!current && (command === "up" || command === "down")) return false;
      grid.move(command);
      return true;
  }
}
