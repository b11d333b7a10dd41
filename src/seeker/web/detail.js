// One item, opened: its picture in full, all that is known of it, and why it is here.

import { wordsOf } from "./asking.js";
import { makeDialog } from "./dialog.js";
import { button, element } from "./dom.js";
import { icon } from "./drawing.js";
import { faceOf } from "./face.js";
import { attributeName, isAddress, known, plain, titleOf } from "./item.js";

/** @import { Search } from "./search.js" */
/** @import { Explanation, Item, Share } from "./types.js" */

/**
 * @typedef {object} Ways
 * @property {(item: Item, verdict: "like" | "dislike") => void} judge
 * @property {(item: Item) => void} found
 * @property {(item: string) => Promise<Explanation>} explain
 */

const WORTH = 0.05;

export class Detail {
  #search;
  #ways;

  /** @param {Search} search @param {Ways} ways */
  constructor(search, ways) {
    this.#search = search;
    this.#ways = ways;
    this.dialog = makeDialog("detail", { part: "detail" });
  }

  /** @param {Item} item @param {{verdicts: boolean, why: boolean}} offered */
  open(item, offered) {
    const title = titleOf(item);
    const then = (/** @type {() => void} */ deed) => () => {
      this.dialog.close();
      deed();
    };
    const why = element("div", { className: "reasons", "aria-live": "polite" });
    const judge = (/** @type {"like" | "dislike"} */ verdict, /** @type {string} */ text) => {
      const deed = then(() => this.#ways.judge(item, verdict));
      const sign = verdict === "like" ? "heart" : "cross";
      const made = button(`${text} ${title}`, deed, { icon: sign, text, className: verdict });
      made.setAttribute("aria-pressed", String(this.#search.verdict(item.id) === verdict));
      return made;
    };
    const verdicts = element(
      "div",
      { className: "verdicts" },
      judge("dislike", "Dislike"),
      judge("like", "Like"),
      button(
        `Found it: ${title}`,
        then(() => this.#ways.found(item)),
        { icon: "check", text: "Found it", className: "primary" },
      ),
    );
    this.dialog.setAttribute("aria-label", title);
    this.dialog.replaceChildren(
      element(
        "div",
        { className: "inside" },
        button("Close", () => this.dialog.close(), { icon: "cross", className: "close" }),
        ...(item.media ? [element("div", { className: "large" }, faceOf(item))] : []),
        element(
          "div",
          { className: "about" },
          element("h2", {}, title),
          attributes(item),
          ...(offered.why ? [why] : []),
          ...(offered.verdicts ? [verdicts] : []),
        ),
      ),
    );
    this.dialog.showModal();
    if (offered.why) this.#explain(item, why);
  }

  /** @param {Item} item @param {HTMLElement} place */
  async #explain(item, place) {
    place.append(element("h3", {}, "Why this?"), element("p", { className: "soft" }, "Thinking…"));
    try {
      const explanation = await this.#ways.explain(item.id);
      place.replaceChildren(element("h3", {}, "Why this?"), ...this.#reasons(explanation));
    } catch (problem) {
      place.lastElementChild?.replaceWith(element("p", { className: "soft" }, wordsOf(problem)));
    }
  }

  /** @param {Explanation} explanation @returns {Node[]} */
  #reasons({ clicks, text }) {
    const answer = this.#search.answer;
    const said = [...(answer?.query ? [answer.query] : []), ...(answer?.said ?? [])];
    const words =
      said.length || text
        ? [element("p", {}, `Your words count too: ${said.map((one) => `“${one}”`).join(", ")}.`)]
        : [];
    if (!clicks.length) {
      const open = said.length
        ? []
        : [element("p", {}, "Nothing speaks for or against it yet: it is here to show you what there is.")];
      return [...words, ...open];
    }
    const pro = clicks.filter((click) => click.pull > WORTH).sort((a, b) => b.pull - a.pull);
    const contra = clicks.filter((click) => click.pull < -WORTH).sort((a, b) => a.pull - b.pull);
    const most = Math.max(...clicks.map((click) => Math.abs(click.pull)));
    const none =
      pro.length + contra.length
        ? []
        : [
            element(
              "p",
              {},
              "None of your likes and dislikes says much about it: it is here to try another direction.",
            ),
          ];
    return [
      ...this.#side("What speaks for it", pro, most),
      ...this.#side("What speaks against it", contra, most),
      ...none,
      ...words,
    ];
  }

  /** @param {string} heading @param {Share[]} clicks @param {number} most @returns {Node[]} */
  #side(heading, clicks, most) {
    if (!clicks.length) return [];
    return [
      element("h4", {}, heading),
      element(
        "ul",
        { className: "shares", role: "list" },
        ...clicks.slice(0, 6).map((click) => {
          const item = this.#search.item(click.item);
          const bar = element("i", { className: "weight" });
          bar.style.width = `${Math.max(6, (100 * Math.abs(click.pull)) / most)}%`;
          const said = click.verdict === "like" ? "You liked" : "You disliked";
          return element(
            "li",
            {},
            element(
              "span",
              { className: `thumb ${click.verdict}` },
              faceOf(item),
              icon(click.verdict === "like" ? "heart" : "cross"),
            ),
            element("span", { className: "told" }, `${said} ${titleOf(item)}`, bar),
          );
        }),
      ),
    ];
  }
}

/** @param {Item} item */
function attributes(item) {
  const rows = known(item).flatMap(([name, value]) => {
    const told = isAddress(value)
      ? element("a", { href: value, target: "_blank", rel: "noopener noreferrer" }, value)
      : plain(value);
    return [element("dt", {}, attributeName(name)), element("dd", {}, told)];
  });
  return element("dl", {}, ...rows);
}
