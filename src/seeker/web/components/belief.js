// Where the search stands, in words and as a shape that closes in on the thing looked for.

import { element, reconcile, svg } from "../dom.js";
import { percent, say, split, viewWord } from "../strings.js";

/** @import { Belief, Session } from "../types.js" */
/** @import { SplitSentence } from "../strings.js" */

const WIDTH = 280;
const HEIGHT = 76;
const MIDDLE = HEIGHT / 2;
const GOAL = WIDTH - 14;
/** In so many shades the stylesheet draws views. */
const SHADES = 4;
const STORAGE_PREFIX = "seeker:candidates:";

/** How much more a view matters than usual, once somebody has said so; the other two rule out or change nothing. */
const MATTERS_FACTOR = 1000;
const FOCUS_FACTORS = /** @type {const} */ ({ matters: MATTERS_FACTOR, usual: 1, never: 0 });
const LEARNED_VIEW = /^learned(-|$)/;

export class BeliefView {
  /** The session that was on display last. */
  #session = "";
  #focus;

  /** @param {(views: Record<string, number>) => void} onFocus called with what matters, by view */
  constructor(onFocus) {
    this.#focus = new FocusControl(onFocus);
    this.drawing = svg("svg", {
      class: "funnel",
      part: "belief",
      role: "img",
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      "aria-label": say("belief.label"),
    });
    this.summary = element("p", { className: "standing", role: "status" });
    this.certainty = element("p", { className: "sureness" });
    this.similarity = element("p");
    this.bar = element("div", { className: "bar", "aria-hidden": "true" });
    this.names = element("div", { className: "names", "aria-hidden": "true" });
    this.views = element(
      "div",
      { className: "views" },
      this.similarity,
      this.bar,
      this.names,
      this.#focus.element,
    );
    this.element = element(
      "section",
      { className: "belief", "aria-label": say("belief.label") },
      this.drawing,
      this.summary,
      this.certainty,
      this.views,
    );
  }

  /** @param {Session} session @param {Record<string, number>} focus what matters, as the person sees it already @param {boolean} readOnly */
  update(session, focus, readOnly) {
    this.#focus.update(Object.keys(session.belief?.views ?? {}), focus, readOnly);
    const [begin, middle, end] = summaryText(session);
    const sentence = begin + middle + end;
    // Said again only if it has changed: a screen reader reads every change aloud.
    if (this.summary.textContent !== sentence) {
      this.summary.replaceChildren(begin, element("span", {}, middle), end);
    }
    this.drawing.setAttribute("aria-label", say("belief.drawing", { sentence }));
    // What was known a step before stays until there is more to say: nothing jumps while Seeker thinks.
    const thinking = !session.belief && !session.found && session.id === this.#session;
    this.#session = session.id;
    if (thinking) return;
    this.certainty.textContent = certaintyText(session);
    if (session.belief) this.#drawFunnel(session);
    this.#updateViews(session);
  }

  /** @param {Session} session */
  #drawFunnel(session) {
    const counts = candidateCounts(session);
    const total = Math.max(2, session.page.total);
    const last = counts.length - 1;
    /** Where along, and how wide. @type {[number, number][]} */
    const points = [];
    counts.forEach((count, step) => {
      if (count === null) return;
      points.push([
        6 + (GOAL - 46) * (last === 0 ? 0 : step / (last + 1.5)) + (last === 0 ? 26 : 0),
        3 + openness(count, total) * (MIDDLE - 7),
      ]);
    });
    if (points.length === 1 && points[0]) points.unshift([6, Math.max(points[0][1], MIDDLE - 4)]);
    // What is found is all that is left.
    if (session.found) points.splice(-1, 1, [GOAL - 8, 1.5]);
    const [x, width] = points.at(-1) ?? [6, MIDDLE - 4];
    const ahead = [-1, 1].map((side) => {
      const y = MIDDLE + side * width;
      const half = (x + GOAL) / 2;
      return svg("path", {
        class: "ahead",
        d: `M${x} ${y} C${half} ${y} ${half} ${MIDDLE} ${GOAL - 7} ${MIDDLE}`,
      });
    });
    this.drawing.replaceChildren(
      svg("path", { class: "body", d: funnelPath(points) }),
      ...ahead,
      svg("line", { class: "mouth", x1: x, x2: x, y1: MIDDLE - width, y2: MIDDLE + width }),
      svg("circle", { class: "goal", cx: GOAL, cy: MIDDLE, r: 6 }),
      svg("circle", { class: "point", cx: GOAL, cy: MIDDLE, r: 2 }),
    );
  }

  /** Show what similar means. @param {Session} session */
  #updateViews({ belief, step }) {
    const weights = Object.entries(belief?.views ?? {});
    this.views.hidden = weights.length < 2;
    for (const node of [this.similarity, this.bar, this.names]) node.hidden = step === 0;
    this.similarity.textContent = similarityText(belief) || say("belief.learning");
    const shade = (/** @type {number} */ index) => ({ className: `view${index % SHADES}` });
    reconcile(
      this.bar,
      weights.map(([view], index) => [view, () => element("i", shade(index))]),
    );
    reconcile(
      this.names,
      weights.map(([view], index) => [view, () => element("span", shade(index), viewName(view))]),
    );
    weights.forEach(([view, weight], index) => {
      const bar = /** @type {HTMLElement} */ (this.bar.children[index]);
      bar.title = say("belief.weight", { view: viewName(view), percent: percent(weight) });
      bar.style.flexGrow = String(Math.max(0.02, weight));
    });
  }
}

/** Lets people say of each view whether it matters. */
class FocusControl {
  #onFocus;
  /** @type {Record<string, number>} */
  #focus = {};

  /** @param {(views: Record<string, number>) => void} onFocus */
  constructor(onFocus) {
    this.#onFocus = onFocus;
    this.list = element("div", { className: "choices" });
    this.element = element(
      "details",
      { className: "matters", part: "matters" },
      element("summary", {}, say("belief.whatMatters")),
      this.list,
    );
  }

  /** @param {string[]} views @param {Record<string, number>} focus @param {boolean} readOnly */
  update(views, focus, readOnly) {
    this.#focus = focus;
    // What was learned of others is made of the rest: nobody can say how much it matters to them.
    const choices = views.filter((view) => !LEARNED_VIEW.test(view));
    // While Seeker thinks, nothing is known of the views: what stands there stays.
    if (views.length) {
      reconcile(
        this.list,
        choices.map((view) => [view, () => this.#createChoice(view)]),
      );
      this.element.hidden = choices.length < 2 || readOnly;
    }
    for (const input of this.list.querySelectorAll("input")) {
      const factor = focus[input.dataset.view ?? ""] ?? 1;
      const said = factor === 0 ? "never" : factor > 1 ? "matters" : "usual";
      input.checked = input.value === said;
    }
  }

  /** @param {string} view */
  #createChoice(view) {
    const options = /** @type {(keyof typeof FOCUS_FACTORS)[]} */ (Object.keys(FOCUS_FACTORS)).map((said) => {
      const input = element("input", { type: "radio", name: `matters-${view}`, value: said });
      input.dataset.view = view;
      input.addEventListener("change", () => this.#choose(view, FOCUS_FACTORS[said]));
      return element("label", {}, input, element("span", {}, say(`belief.${said}`)));
    });
    return element("fieldset", {}, element("legend", {}, viewName(view)), ...options);
  }

  /** @param {string} view @param {number} factor */
  #choose(view, factor) {
    const { [view]: _, ...others } = this.#focus;
    this.#onFocus(factor === 1 ? others : { ...others, [view]: factor });
  }
}

/** From this chance of being on the page on, it came within three pages half as often again as below: `benchmarks/lab/promise.py`. */
const PROMISING = 0.12;

/** @param {Session} session @returns {SplitSentence} */
function summaryText({ step, page, belief, query, said, filter, found, history }) {
  if (found) return split("belief.found");
  if (page.total === 0) return split("belief.nothing");
  if (step === 0 && !query && !said.length)
    return split(filter ? "belief.startFiltered" : "belief.start", { count: page.total });
  if (!belief) return split("thinking");
  const { on_page: onPage } = belief;
  // What is looked for may be merely like an example, which counts four times so that a copy is found.
  const surely = history.some(({ type }) => type === "example") ? 0 : onPage;
  if (surely > 0.85) return split("belief.veryProbable");
  if (surely > 0.5) return split("belief.probable");
  return split(onPage > PROMISING ? "belief.closer" : "belief.looking");
}

/** Say what to do next, where the sentence before says little. @param {Session} session */
function certaintyText({ step, belief, page, query, said, found }) {
  if (!belief || found || page.total === 0) return "";
  if (step === 0 && !query && !said.length) return say("howTo");
  return belief.on_page > PROMISING ? "" : say("belief.beginning");
}

/** Say what 'similar' means for this person, once that shows. @param {Belief | null} belief */
function similarityText(belief) {
  const views = Object.entries(belief?.views ?? {}).sort((a, b) => b[1] - a[1]);
  if (views.length < 2) return "";
  const [[first, most], [second, next]] = /** @type {[[string, number], [string, number]]} */ (views);
  if (most > 0.85) return say("belief.similar", { view: viewName(first) });
  if (most > 0.55) return say("belief.mostlySimilar", { view: viewName(first) });
  if (views.length > 2 && most + next > 0.8)
    return say("belief.similarInTwo", { first: viewName(first), second: viewName(second) });
  return "";
}

/** @param {string} view */
export const viewName = (view) =>
  viewWord(LEARNED_VIEW.test(view) ? "learned" : view) || view.replaceAll("_", " ");

/**
 * How open a search is, from 1 to 0. The logarithm alone hardly moves while hundreds of candidates
 * fall away, the root alone is nothing long before the end: their mean shows both.
 *
 * @param {number} count @param {number} total
 */
function openness(count, total) {
  const left = Math.min(1, Math.max(1, count) / total);
  return (1 + Math.log(left) / Math.log(total) + Math.sqrt(left)) / 2;
}

/** @param {[number, number][]} points where along, and how wide @returns {string} a smooth closed shape */
function funnelPath(points) {
  const side = (/** @type {[number, number][]} */ line, /** @type {number} */ sign) =>
    line
      .map(([x, width], index) => {
        const before = line[index - 1];
        const y = MIDDLE + sign * width;
        if (!before) return `${x} ${y}`;
        const half = (before[0] + x) / 2;
        return `C${half} ${MIDDLE + sign * before[1]} ${half} ${y} ${x} ${y}`;
      })
      .join(" ");
  return `M${side(points, -1)} L${side([...points].reverse(), 1)} Z`;
}

/**
 * How many candidates were left at each step up to now; this tab remembers it over a reload.
 *
 * @param {Session} session
 * @returns {(number | null)[]} by step; null where it was never seen here
 */
function candidateCounts(session) {
  const key = STORAGE_PREFIX + session.id;
  const counts = readCounts(key);
  const step = session.history.length;
  counts.length = Math.min(counts.length, step + 1);
  while (counts.length <= step) counts.push(null);
  counts[0] ??= session.query || step === 0 ? null : session.page.total;
  if (session.belief) counts[step] = session.belief.candidates;
  try {
    sessionStorage.setItem(key, JSON.stringify(counts));
  } catch {
    // A browser may forbid storage: the picture then begins anew after a reload.
  }
  return counts;
}

/** @param {string} key @returns {(number | null)[]} */
function readCounts(key) {
  try {
    const stored = JSON.parse(sessionStorage.getItem(key) ?? "[]");
    return Array.isArray(stored) ? stored.map((count) => (typeof count === "number" ? count : null)) : [];
  } catch {
    // A browser may forbid storage, or somebody may have written there: the picture then begins here.
    return [];
  }
}
