// Keys, swipes and pictures: everything on the page can be done with the keyboard, a card is rated by a
// swipe, and a picture of one's own is dropped or pasted.

/** @import { Grid } from "./components/grid.js" */
/** @import { Item } from "./types.js" */

/** @typedef {"like" | "dislike" | "undo" | "redo" | "help" | "words" | "left" | "right" | "up" | "down"} Shortcut */

/** @type {Record<string, Shortcut>} */
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
 * @param {(shortcut: Shortcut) => boolean} run returns whether it meant something
 */
export function listenForShortcuts(host, signal, run) {
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    const shortcut = shortcutOf(event);
    if (shortcut && run(shortcut)) event.preventDefault();
  };
  const onDocumentKey = (/** @type {KeyboardEvent} */ event) => {
    if (event.target === document.body) onKey(event);
  };
  host.addEventListener("keydown", onKey, { signal });
  if (host.hasAttribute("whole-page")) document.addEventListener("keydown", onDocumentKey, { signal });
}

/** @param {KeyboardEvent} event @returns {Shortcut | null} */
function shortcutOf(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return null;
  const [target] = event.composedPath();
  if (target instanceof HTMLElement && target.matches("input, select, textarea, [contenteditable]"))
    return null;
  return KEYS[event.key.toLowerCase()] ?? null;
}

/**
 * @typedef {object} ShortcutHandlers what keys can do beside moving
 * @property {(item: Item, verdict: "like" | "dislike") => void} rate
 * @property {() => void} undo
 * @property {() => void} redo
 * @property {(() => void) | null} help
 * @property {(() => void) | null} words
 */

/** @param {Shortcut} shortcut @param {Grid} grid @param {ShortcutHandlers} handlers @returns {boolean} whether it meant something */
export function runShortcut(shortcut, grid, handlers) {
  const { focusedItem } = grid;
  switch (shortcut) {
    case "like":
    case "dislike":
      if (focusedItem) handlers.rate(focusedItem, shortcut);
      return focusedItem !== null;
    case "undo":
    case "redo":
      handlers[shortcut]();
      return true;
    case "help":
    case "words":
      handlers[shortcut]?.();
      return handlers[shortcut] !== null;
    default:
      // Without a card in focus, up and down are for scrolling.
      if (!focusedItem && (shortcut === "up" || shortcut === "down")) return false;
      grid.moveFocus(shortcut);
      return true;
  }
}

/** From so many pixels on, a movement is a swipe; from such a part of the card's width on, a verdict. */
const SWIPE_START_PX = 10;
const SWIPE_VERDICT_SHARE = 0.32;
/** A click that comes so soon after a swipe was none. */
const STRAY_CLICK_MS = 50;

/**
 * Let the cards of a list be swiped by touch: to the right is a like, to the left a dislike.
 *
 * @param {HTMLElement} list
 * @param {(id: string, verdict: "like" | "dislike") => void} rate
 */
export function enableSwipe(list, rate) {
  /** @type {{card: HTMLElement, pointer: number, x: number, y: number, across: number, active: boolean} | null} */
  let swipe = null;

  const reset = () => {
    if (!swipe) return;
    swipe.card.style.transform = "";
    swipe.card.classList.remove("toward-like", "toward-dislike", "swiped");
    swipe = null;
  };

  list.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "mouse" || !event.isPrimary) return;
    const card = event.target instanceof Element ? event.target.closest("li[data-id]") : null;
    if (!(card instanceof HTMLElement)) return;
    swipe = { card, pointer: event.pointerId, x: event.clientX, y: event.clientY, across: 0, active: false };
  });

  list.addEventListener("pointermove", (event) => {
    if (!swipe || event.pointerId !== swipe.pointer) return;
    const across = event.clientX - swipe.x;
    const down = event.clientY - swipe.y;
    if (!swipe.active) {
      if (Math.abs(across) < SWIPE_START_PX || Math.abs(across) < Math.abs(down)) return;
      swipe.active = true;
      swipe.card.classList.add("swiped");
      swipe.card.setPointerCapture(event.pointerId);
    }
    swipe.across = across;
    const far = Math.abs(across) > swipe.card.offsetWidth * SWIPE_VERDICT_SHARE;
    swipe.card.style.transform = `translateX(${across}px) rotate(${across / 40}deg)`;
    swipe.card.classList.toggle("toward-like", far && across > 0);
    swipe.card.classList.toggle("toward-dislike", far && across < 0);
  });

  list.addEventListener("pointerup", (event) => {
    if (!swipe || event.pointerId !== swipe.pointer) return;
    const { card, across, active } = swipe;
    reset();
    if (!active) return;
    // The finger is lifted over a button, but it was no tap.
    const swallow = (/** @type {Event} */ click) => {
      click.stopPropagation();
      click.preventDefault();
    };
    list.addEventListener("click", swallow, { capture: true, once: true });
    setTimeout(() => list.removeEventListener("click", swallow, { capture: true }), STRAY_CLICK_MS);
    if (Math.abs(across) > card.offsetWidth * SWIPE_VERDICT_SHARE)
      rate(card.dataset.id ?? "", across > 0 ? "like" : "dislike");
  });

  list.addEventListener("pointercancel", reset);
}

/** Pictures are made this small before they are sent, in pixels: more would not be looked at. */
const PICTURE_SIDE = 512;
const PICTURE_QUALITY = 0.92;

/**
 * Take pictures that are dropped on the search or pasted into it; where it is the whole page, anywhere.
 *
 * @param {HTMLElement} host
 * @param {AbortSignal} signal ends the listening
 * @param {() => boolean} accepts whether pictures can be searched with
 * @param {(picture: Blob) => void} onPicture
 */
export function listenForPictures(host, signal, accepts, onPicture) {
  const target = host.hasAttribute("whole-page") ? document : host;
  const take = (/** @type {Event} */ event, /** @type {DataTransfer | null} */ data) => {
    const picture = [...(data?.files ?? [])].find(({ type }) => type.startsWith("image/"));
    if (!picture || !accepts()) return;
    event.preventDefault();
    onPicture(picture);
  };
  const onDrag = (/** @type {Event} */ event) => {
    const hasFile =
      event instanceof DragEvent && event.dataTransfer?.types.some((type) => type.toLowerCase() === "files");
    const over = Boolean(hasFile && event.type === "dragover" && accepts());
    // Only what is wanted may be dropped: the browser would open anything else in place of the page.
    if (over) event.preventDefault();
    host.toggleAttribute("dropping", over);
  };
  for (const kind of ["dragover", "dragleave", "drop"]) target.addEventListener(kind, onDrag, { signal });
  target.addEventListener("drop", (event) => take(event, /** @type {DragEvent} */ (event).dataTransfer), {
    signal,
  });
  target.addEventListener(
    "paste",
    (event) => take(event, /** @type {ClipboardEvent} */ (event).clipboardData),
    { signal },
  );
}

/** A picture as small as it may be; one that the browser cannot read is left to the service. @param {Blob} file @returns {Promise<Blob>} */
export async function shrinkPicture(file) {
  try {
    const bitmap = await createImageBitmap(file);
    const factor = Math.min(1, PICTURE_SIDE / Math.max(bitmap.width, bitmap.height));
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(1, Math.round(bitmap.width * factor));
    canvas.height = Math.max(1, Math.round(bitmap.height * factor));
    const context = canvas.getContext("2d");
    if (!context) return file;
    context.fillStyle = "white";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.imageSmoothingQuality = "high";
    context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    bitmap.close();
    const encoded = await new Promise((resolve) => canvas.toBlob(resolve, "image/webp", PICTURE_QUALITY));
    return encoded instanceof Blob ? encoded : file;
  } catch {
    return file;
  }
}
