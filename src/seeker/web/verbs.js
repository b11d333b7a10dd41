// What a person can do in a search: what is sent, and how things stand then, before the service confirms it.

/** @import { Filter, Session, Verdict } from "./types.js" */

/** What is in effect, as the person sees it. @typedef {Pick<Session, "likes" | "dislikes" | "query" | "said" | "filter">} Effect */
/**
 * @typedef {object} Deed
 * @property {"clicks" | "undo" | "redo" | "text" | "filter" | "exploration" | "found"} verb
 * @property {{item?: string, verdict?: Verdict, shown?: string[], count?: number, text?: string, clear?: boolean, filter?: Filter | null, level?: number}} said
 * @property {(before: Effect) => Effect} foresee
 */

/** @type {Effect} */
export const NOTHING = { likes: [], dislikes: [], query: null, said: [], filter: null };

/** @param {string} item @param {Verdict} verdict @param {string[]} shown @returns {Deed} */
export function click(item, verdict, shown) {
  const others = (/** @type {string[]} */ ids) => ids.filter((id) => id !== item);
  return {
    verb: "clicks",
    said: verdict === "clear" ? { item, verdict } : { item, verdict, shown },
    foresee: (before) => ({
      ...before,
      likes: [...others(before.likes), ...(verdict === "like" ? [item] : [])],
      dislikes: [...others(before.dislikes), ...(verdict === "dislike" ? [item] : [])],
    }),
  };
}

/** Go so many steps back, below zero, or forward again. @param {number} by @returns {Deed} */
export function travel(by) {
  const count = Math.abs(by);
  return { verb: by < 0 ? "undo" : "redo", said: count === 1 ? {} : { count }, foresee: unchanged };
}

/** @param {string} text @returns {Deed} */
export function say(text) {
  const foresee = (/** @type {Effect} */ before) => ({ ...before, said: [...before.said, text] });
  return { verb: "text", said: { text }, foresee };
}

/** @param {string} text @returns {Deed} */
export function unsay(text) {
  const foresee = (/** @type {Effect} */ before) => ({
    ...before,
    query: before.query === text ? null : before.query,
    said: before.said.filter((one) => one !== text),
  });
  return { verb: "text", said: { text, clear: true }, foresee };
}

/** @param {Filter | null} filter @returns {Deed} */
export function narrow(filter) {
  return { verb: "filter", said: { filter }, foresee: (before) => ({ ...before, filter }) };
}

/** @param {number} level @returns {Deed} */
export function explore(level) {
  return { verb: "exploration", said: { level }, foresee: unchanged };
}

/** @param {string} item @returns {Deed} */
export function find(item) {
  return { verb: "found", said: { item }, foresee: unchanged };
}

/** @param {Effect} before @returns {Effect} */
function unchanged(before) {
  return before;
}
