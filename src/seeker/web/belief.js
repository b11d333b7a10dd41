// Where the search stands, as a shape that closes in on the thing looked for.

import { candidates } from "./candidates.js";
import { element, setEntries } from "./dom.js";
import { drawing } from "./drawing.js";
import { meaning, standing, sureness, viewName } from "./sentences.js";

/** @import { Session } from "./types.js" */

const WIDTH = 280;
const HEIGHT = 76;
const MIDDLE = HEIGHT / 2;
const GOAL = WIDTH - 14;
/** In so many shades the stylesheet draws views. */
const SHADES = 4;

export class BeliefPicture {
  /** The session that was shown last. */
  #session = "";

  constructor() {
    this.drawing = drawing("svg", {
      class: "funnel",
      part: "belief",
      role: "img",
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      "aria-label": "Where the search stands",
    });
    this.sentence = element("p", { className: "standing", role: "status" });
    this.more = element("p", { className: "sureness" });
    this.meaning = element("p");
    this.bar = element("div", { className: "bar", "aria-hidden": "true" });
    this.names = element("div", { className: "names", "aria-hidden": "true" });
    this.views = element("div", { className: "views" }, this.meaning, this.bar, this.names);
    this.element = element(
      "section",
      { className: "belief", "aria-label": "Where the search stands" },
      this.drawing,
      this.sentence,
      this.more,
      this.views,
    );
  }

  /** @param {Session} session */
  show(session) {
    const [begin, middle, end] = standing(session);
    const sentence = begin + middle + end;
    // Said again only if it has changed: a screen reader reads every change aloud.
    if (this.sentence.textContent !== sentence) {
      this.sentence.replaceChildren(begin, element("span", {}, middle), end);
    }
    this.drawing.setAttribute("aria-label", `Where the search stands: ${sentence}`);
    // What was known a step before stays until there is more to say: nothing jumps while Seeker thinks.
    const thinking = !session.belief && !session.found && session.id === this.#session;
    this.#session = session.id;
    if (thinking) return;
    this.more.textContent = sureness(session);
    if (session.belief) this.#draw(session);
    this.#show(session);
  }

  /** @param {Session} session */
  #draw(session) {
    const known = candidates(session);
    const total = Math.max(2, session.page.total);
    const last = known.length - 1;
    /** @type {[number, number][]} */
    const points = [];
    known.forEach((count, step) => {
      if (count === null) return;
      const open = openness(count, total);
      points.push([
        6 + (GOAL - 46) * (last === 0 ? 0 : step / (last + 1.5)) + (last === 0 ? 26 : 0),
        3 + open * (MIDDLE - 7),
      ]);
    });
    if (points.length === 1 && points[0]) points.unshift([6, Math.max(points[0][1], MIDDLE - 4)]);
    // What is found is all that is left.
    if (session.found) points.splice(-1, 1, [GOAL - 8, 1.5]);
    const end = points.at(-1) ?? [6, MIDDLE - 4];
    const ahead = [-1, 1].map((side) =>
      drawing("path", {
        class: "ahead",
        d: `M${end[0]} ${MIDDLE + side * end[1]} C${(end[0] + GOAL) / 2} ${MIDDLE + side * end[1]} ${(end[0] + GOAL) / 2} ${MIDDLE} ${GOAL - 7} ${MIDDLE}`,
      }),
    );
    this.drawing.replaceChildren(
      drawing("path", { class: "body", d: outline(points) }),
      ...ahead,
      drawing("line", { class: "mouth", x1: end[0], x2: end[0], y1: MIDDLE - end[1], y2: MIDDLE + end[1] }),
      drawing("circle", { class: "goal", cx: GOAL, cy: MIDDLE, r: 6 }),
      drawing("circle", { class: "point", cx: GOAL, cy: MIDDLE, r: 2 }),
    );
  }

  /** Show what similar means. @param {Session} session */
  #show({ belief, step }) {
    const parts = Object.entries(belief?.views ?? {});
    this.views.hidden = parts.length < 2 || step === 0;
    this.meaning.textContent = meaning(belief) || "Learning what similar means for you.";
    const look = (/** @type {number} */ index) => ({ className: `view${index % SHADES}` });
    setEntries(
      this.bar,
      parts.map(([view], index) => [view, () => element("i", look(index))]),
    );
    setEntries(
      this.names,
      parts.map(([view], index) => [view, () => element("span", look(index), viewName(view))]),
    );
    parts.forEach(([view, weight], index) => {
      const bar = /** @type {HTMLElement} */ (this.bar.children[index]);
      bar.title = `${viewName(view)}: ${Math.round(weight * 100)} %`;
      bar.style.flexGrow = String(Math.max(0.02, weight));
    });
  }
}

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
function outline(points) {
  const side = (/** @type {[number, number][]} */ line, /** @type {number} */ sign) =>
    line
      .map(([x, wide], index) => {
        const before = line[index - 1];
        const y = MIDDLE + sign * wide;
        if (!before) return `${x} ${y}`;
        const half = (before[0] + x) / 2;
        return `C${half} ${MIDDLE + sign * before[1]} ${half} ${y} ${x} ${y}`;
      })
      .join(" ");
  return `M${side(points, -1)} L${side([...points].reverse(), 1)} Z`;
}
