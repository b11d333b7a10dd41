// The calls of a study, and the key with which a participant finds back.

import { ask as request } from "./asking.js";

/** @import { Item } from "./types.js" */
/** @typedef {{open: boolean, consent: string, digest: string, trials: number, steps: number, page_size: number, items: number}} About */
/** @typedef {{number: number, session: string, target: Item, used: number}} Trial */
/** @typedef {{number: number, outcome: "found" | "steps used up" | "gave up", used: number}} Ended */
/** @typedef {{trials: number, steps: number, done: number, current: Trial | null, last: Ended | null}} Standing */

const KEPT = "seeker-study-key";

/** @param {"GET" | "POST" | "DELETE"} method @param {string} path @param {object} [body] */
const ask = (method, path, body) => request(method, new URL(`/v1/study${path}`, location.href), { body });

/** @returns {Promise<About>} */
export const about = () => ask("GET", "");

/** @param {string} digest of the text that was read @returns {Promise<Standing & {key: string}>} */
export const join = (digest) => ask("POST", "/participants", { consent: digest });

/** @param {string} key @returns {Promise<Standing>} */
export const standing = (key) => ask("GET", `/participants/${key}`);

/** @param {string} key @returns {Promise<Standing>} */
export const next = (key) => ask("POST", `/participants/${key}/trials`);

/** @param {string} key @param {number} number @returns {Promise<Standing>} */
export const giveUp = (key, number) => ask("POST", `/participants/${key}/trials/${number}/stop`);

/** @param {string} key @returns {Promise<object>} */
export const records = (key) => ask("GET", `/participants/${key}/records`);

/** @param {string} key @returns {Promise<null>} */
export const withdraw = (key) => ask("DELETE", `/participants/${key}`);

/** The key from the link that was opened, or the one that this browser has kept. @returns {string} */
export function ownKey() {
  const [, given] = /^#key=([\w-]{22})$/.exec(location.hash) ?? [];
  if (given) {
    keep(given);
    // A key that stays in the address bar ends up in pictures of the screen.
    history.replaceState(null, "", location.pathname);
    return given;
  }
  try {
    return localStorage.getItem(KEPT) ?? "";
  } catch {
    return "";
  }
}

/** Keep a key in this browser, or forget it. @param {string} key */
export function keep(key) {
  try {
    if (key) localStorage.setItem(KEPT, key);
    else localStorage.removeItem(KEPT);
  } catch {
    // Where nothing may be kept, the link alone leads back.
  }
}

/** @param {string} key @returns {string} the link that leads back to one's searches */
export const linkOf = (key) => new URL(`/#key=${key}`, location.href).href;
