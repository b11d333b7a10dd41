// What a person has done, as they see it already, before the service has confirmed it.

/** @import { Filter, Session, Verdict } from "./types.js" */

/** @typedef {Pick<Session, "likes" | "dislikes" | "query" | "said" | "filter">} Foreseen */

/** @type {Foreseen} */
export const NOTHING = { likes: [], dislikes: [], query: null, said: [], filter: null };

/** @param {string} item @param {Verdict} verdict @returns {(before: Foreseen) => Foreseen} */
export function judging(item, verdict) {
  return (before) => {
    const likes = before.likes.filter((id) => id !== item);
    const dislikes = before.dislikes.filter((id) => id !== item);
    if (verdict === "like") likes.push(item);
    if (verdict === "dislike") dislikes.push(item);
    return { ...before, likes, dislikes };
  };
}

/** @param {string} text @returns {(before: Foreseen) => Foreseen} */
export const saying = (text) => (before) => ({ ...before, said: [...before.said, text] });

/** @param {string} text @returns {(before: Foreseen) => Foreseen} */
export const unsaying = (text) => (before) => ({
  ...before,
  query: before.query === text ? null : before.query,
  said: before.said.filter((one) => one !== text),
});

/** @param {Filter | null} filter @returns {(before: Foreseen) => Foreseen} */
export const narrowing = (filter) => (before) => ({ ...before, filter });
