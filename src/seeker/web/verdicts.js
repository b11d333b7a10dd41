// What is liked and what is disliked, in the order of the clicks.

/** @import { Verdict } from "./types.js" */

/** @typedef {{likes: string[], dislikes: string[]}} Verdicts */

/** @param {Verdicts} before @param {string} item @param {Verdict} verdict @returns {Verdicts} what there is after a click */
export function judged({ likes, dislikes }, item, verdict) {
  const others = (/** @type {string[]} */ ids) => ids.filter((id) => id !== item);
  return {
    likes: verdict === "like" ? [...others(likes), item] : others(likes),
    dislikes: verdict === "dislike" ? [...others(dislikes), item] : others(dislikes),
  };
}
