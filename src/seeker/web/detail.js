// One item, opened: its picture in full, all that is known of it, and why it is here.

import { faceOf } from "./card.js";
import { button, element, icon } from "./dom.js";
import { attributeName, plain } from "./sentences.js";

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
    this.dialog = element("dialog", { className: "detail", part: "detail" });
    this.dialog.addEventListener("click", (event) => {
      // The backdrop belongs to the dialog itself.
      if (event.target === this.dialog) this.dialog.close();
    });
  }

  /** @param {Item} item @param {{verdicts: boolean, why: boolean}} offered */
  open(item, offered) {
    const title = item.title || item.id;
    const then = (/** @type {() => void} */ deed) => () => {
      this.dialog.close();
      deed();
    };
    const why = element("div", { className: "reasons", "aria-live": "polite" });
    const verdicts = element(
      "div",
      { className: "verdicts" },
      button(
        `Dislike ${title}`,
        then(() => this.#ways.judge(item, "dislike")),
        { icon: "cross", text: "Dislike", className: "dislike" },
      ),
      button(
        `Like ${title}`,
        then(() => this.#ways.judge(item, "like")),
        { icon: "heart", text: "Like", className: "like" },
      ),
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
      place.lastElementChild?.replaceWith(
        element("p", { className: "soft" }, problem instanceof Error ? problem.message : String(problem)),
      );
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
            element("span", { className: "told" }, `${said} ${item.title || item.id}`, bar),
          );
        }),
      ),
    ];
  }
}

/** @param {Item} item */
function attributes(item) {
  const rows = Object.entries(item.attributes)
    .filter(([, value]) => value !== null && value !== "")
    .flatMap(([name, value]) => {
      const told = plain(value);
      const link = /^https?:\/\/\S+$/.test(told);
      const shown = link
        ? element("a", { href: told, target: "_blank", rel: "noopener noreferrer" }, told)
        : told;
      return [element("dt", {}, attributeName(name)), element("dd", {}, shown)];
    });
  return element("dl", {}, ...rows);
}
