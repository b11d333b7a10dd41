// The calls of a study, and the key with which a participant finds back.

import { request } from "../api.js";

/** @import { Item } from "../types.js" */
/** @typedef {{open: boolean, consent: string, digest: string, trials: number, steps: number, page_size: number, items: number}} StudyInfo */
/** @typedef {{number: number, session: string, target: Item, used: number}} Trial */
/** @typedef {{number: number, outcome: "found" | "steps used up" | "gave up", used: number}} TrialResult */
/** How far a participant has come. @typedef {{trials: number, steps: number, done: number, current: Trial | null, last: TrialResult | null}} Progress */

const STORAGE_KEY = "seeker-study-key";

/** @param {"GET" | "POST" | "DELETE"} method @param {string} path @param {object} [body] */
const call = (method, path, body) =>
  request(method, new URL(`../../v1/study${path}`, import.meta.url), { body });

/** @returns {Promise<StudyInfo>} */
export const studyInfo = () => call("GET", "");

/** @param {string} digest of the text that was read @returns {Promise<Progress & {key: string}>} */
export const join = (digest) => call("POST", "/participants", { consent: digest });

/** @param {string} key @returns {Promise<Progress>} */
export const progress = (key) => call("GET", `/participants/${key}`);

/** @param {string} key @returns {Promise<Progress>} */
export const startTrial = (key) => call("POST", `/participants/${key}/trials`);

/** @param {string} key @param {number} number @returns {Promise<Progress>} */
export const stopTrial = (key, number) => call("POST", `/participants/${key}/trials/${number}/stop`);

/** @param {string} key @returns {Promise<object>} */
export const records = (key) => call("GET", `/participants/${key}/records`);

/** @param {string} key @returns {Promise<null>} */
export const withdraw = (key) => call("DELETE", `/participants/${key}`);

/** The key from the link that was opened, or the one that this browser has stored. @returns {string} */
export function loadKey() {
  const [, linkKey] = /^#key=([\w-]{22})$/.exec(location.hash) ?? [];
  if (linkKey) {
    storeKey(linkKey);
    // A key that stays in the address bar ends up in pictures of the screen.
    history.replaceState(null, "", location.pathname);
    return linkKey;
  }
  try {
    return localStorage.getItem(STORAGE_KEY) ?? "";
  } catch {
    return "";
  }
}

/** Store a key in this browser, or forget it. @param {string} key */
export function storeKey(key) {
  try {
    if (key) localStorage.setItem(STORAGE_KEY, key);
    else localStorage.removeItem(STORAGE_KEY);
  } catch {
    // Where nothing may be stored, the link alone leads back.
  }
}

/** @param {string} key @returns {string} the link that leads back to one's searches */
export const participantUrl = (key) => new URL(`#key=${key}`, location.href).href;
