// Numbers and states as plain sentences.

import { attributeName, plain } from "./item.js";

/** @import { Belief, Happening, Session } from "./types.js" */

/** What views are called by people. @type {Record<string, string>} */
const VIEWS = { image: "looks", colour: "colour", color: "colour", text: "theme" };

/** @param {number} value */
export const number = (value) => Math.round(value).toLocaleString("en");

/** @param {number} count @param {string} one @param {string} many */
export const counted = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

/** @param {string} view */
export const viewName = (view) => VIEWS[view] ?? view.replaceAll("_", " ");

/** @param {number} value a rough number, said roughly */
function roughly(value) {
  if (value < 20) return number(value);
  const digits = value < 100 ? 5 : 10 ** (Math.floor(Math.log10(value)) - 1);
  return number(Math.round(value / digits) * digits);
}

/**
 * Say where a search stands; the part in the middle can be left out where there is little room.
 *
 * @param {Session} session
 * @returns {[string, string, string]}
 */
export function standing({ step, page, belief, query, said, filter, found }) {
  if (found) return ["Found.", "", ""];
  if (page.total === 0) return ["Nothing is left to choose from.", "", ""];
  const all = number(page.total);
  const passing = filter ? " that pass your filters" : "";
  if (step === 0 && !query && !said.length)
    return [counted(page.total, "item"), `${passing} to choose from`, "."];
  if (!belief) return ["Thinking…", "", ""];
  const left = Math.max(1, Math.min(belief.candidates, page.total));
  if (left < 1.5) return ["One is left", " that fits", "."];
  if (left > 0.9 * page.total) return [`All ${all}`, passing, " are still open."];
  return [`About ${roughly(left)} left`, ` of ${all}${passing}`, "."];
}

/** Say to those who cannot see it that there is a new page; never twice the same, which would not be read. @param {Session} session */
export function newPage({ step, undone, page }) {
  const items = counted(page.items.length, "item");
  if (step) return `Step ${step}: a new page of ${items}.`;
  return undone ? `At the start again, with ${items}.` : "";
}

/** Say how sure Seeker is, in a few words. @param {Session} session */
export function sureness({ step, belief, page, query, said, found }) {
  if (!belief || found || page.total === 0) return "";
  if (step === 0 && !query && !said.length)
    return "Like what comes close to what you have in mind, dislike what does not.";
  const chance = belief.on_page;
  if (chance > 0.85) return "It is very probably on this page.";
  if (chance > 0.5) return "It is probably on this page.";
  if (chance > 0.2) return "It may well be on this page.";
  const open = Math.log(Math.max(1, belief.candidates)) / Math.log(Math.max(2, page.total));
  if (open > 0.85) return "Just beginning: every like and dislike helps.";
  if (open > 0.55) return "Getting warmer.";
  return "Narrowing down.";
}

/** Say what 'similar' means for this person, once that shows. @param {Belief | null} belief */
export function meaning(belief) {
  const views = Object.entries(belief?.views ?? {}).sort((a, b) => b[1] - a[1]);
  if (views.length < 2) return "";
  const [[first, most], [second, next]] = /** @type {[[string, number], [string, number]]} */ (views);
  if (most > 0.85) return `For you, similar means ${viewName(first)}.`;
  if (most > 0.55) return `For you, similar means mostly ${viewName(first)}.`;
  if (views.length > 2 && most + next > 0.8)
    return `For you, similar means ${viewName(first)} and ${viewName(second)}.`;
  return "";
}

/** @param {number} seconds */
export function duration(seconds) {
  if (seconds < 60) return counted(Math.max(1, Math.round(seconds)), "second");
  if (seconds < 3600) {
    const whole = Math.round(seconds);
    const rest = whole % 60;
    return counted(Math.floor(whole / 60), "minute") + (rest ? ` and ${counted(rest, "second")}` : "");
  }
  if (seconds < 86_400) return `about ${counted(Math.round(seconds / 3600), "hour")}`;
  return `about ${counted(Math.round(seconds / 86_400), "day")}`;
}

/** Say what a filter asks of one attribute. @param {string} name @param {unknown} condition */
export function condition(name, condition) {
  const called = attributeName(name);
  if (condition && typeof condition === "object" && !Array.isArray(condition)) {
    const { ge, gt, le, lt } = /** @type {Record<string, number>} */ (condition);
    const low = ge ?? gt;
    const high = le ?? lt;
    if (low !== undefined && high !== undefined) return `${called}: ${low} to ${high}`;
    return low !== undefined ? `${called}: from ${low}` : `${called}: up to ${high}`;
  }
  return `${called}: ${[condition].flat().map(plain).join(", ")}`;
}

/** Say what happened in one step. @param {Happening} happening @param {(id: string) => string} title */
export function happened(happening, title) {
  const item = happening.item === undefined ? "" : title(happening.item);
  switch (happening.type) {
    case "click":
      return `${{ like: "Liked", dislike: "Disliked", clear: "Cleared" }[happening.verdict ?? "clear"]} ${item}`;
    case "say":
      return `Said “${happening.text}”`;
    case "unsay":
      return `Took back “${happening.text}”`;
    case "filter":
      return happening.filter && Object.keys(happening.filter).length ? "Filtered" : "Removed the filters";
    case "exploration":
      return (happening.level ?? 1) > 1 ? "Asked for surprises" : "As usual again";
    case "found":
      return `Found ${item}`;
    default:
      // A newer service may know things that this page does not.
      return "Something else";
  }
}
