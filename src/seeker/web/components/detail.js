// One item, opened: its picture in full, all that is known of it, and why it is here.

import { errorMessage } from "../api.js";
import { button, element, icon } from "../dom.js";
import { list, quote, say } from "../strings.js";
import {
  LARGE_PICTURE,
  attributeLabel,
  attributeText,
  isUrl,
  itemFace,
  itemTitle,
  knownAttributes,
} from "./card.js";
import { viewName } from "./belief.js";
import { createDialog } from "./dialogs.js";

/** @import { SearchStore } from "../store.js" */
/** @import { ClickContribution, Explanation, Formats, Item } from "../types.js" */

/**
 * @typedef {object} DetailHandlers
 * @property {(item: Item, verdict: "like" | "dislike") => void} rate
 * @property {(item: Item) => void} finish
 * @property {((item: Item) => void) | null} similar
 * @property {(item: string) => Promise<Explanation>} explain
 */

/** A click that pulls less than this says nothing worth telling. */
const LEAST_PULL = 0.05;
const MOST_REASONS = 6;
/** From this share of a reason on, one view is worth naming. */
const MAIN_VIEW_SHARE = 0.6;
/** Addresses of what can be heard, and of what can be watched. */
const SOUND = /\.(?:mp3|m4a|aac|ogg|oga|opus|wav|flac)(?:[?#]|$)/i;
const FILM = /\.(?:mp4|m4v|webm|ogv|mov)(?:[?#]|$)/i;
/** The shortest bar that can be seen, in percent. */
const SHORTEST_BAR = 6;

export class Detail {
  #store;
  #handlers;

  /** @param {SearchStore} store @param {DetailHandlers} handlers */
  constructor(store, handlers) {
    this.#store = store;
    this.#handlers = handlers;
    this.dialog = createDialog("detail", { part: "detail" });
  }

  /** @param {Item} item @param {{verdicts: boolean, reasons: boolean}} parts which of them are offered */
  open(item, parts) {
    const title = itemTitle(item);
    const reasons = element("div", { className: "reasons", "aria-live": "polite" });
    this.dialog.setAttribute("aria-label", title);
    this.dialog.replaceChildren(
      element(
        "div",
        { className: "inside" },
        button(say("close"), () => this.dialog.close(), { icon: "cross", className: "close" }),
        ...(item.media ? [element("div", { className: "large" }, itemFace(item, "", LARGE_PICTURE))] : []),
        element(
          "div",
          { className: "about" },
          element("h2", {}, title),
          ...players(item, this.#store.formats),
          attributeList(item, this.#store.formats),
          ...(parts.reasons ? [reasons] : []),
          ...(parts.verdicts || this.#handlers.similar
            ? [this.#createVerdicts(item, title, parts.verdicts)]
            : []),
        ),
      ),
    );
    this.dialog.showModal();
    if (parts.reasons) this.#explain(item, reasons);
  }

  /** @param {Item} item @param {string} title @param {boolean} verdicts whether it can be judged */
  #createVerdicts(item, title, verdicts) {
    const closeThen = (/** @type {() => void} */ action) => () => {
      this.dialog.close();
      action();
    };
    const rate = (/** @type {"like" | "dislike"} */ verdict) => {
      const control = button(
        say(`card.${verdict}`, { title }),
        closeThen(() => this.#handlers.rate(item, verdict)),
        {
          icon: verdict === "like" ? "heart" : "cross",
          text: say(`detail.${verdict}`),
          className: verdict,
        },
      );
      control.setAttribute("aria-pressed", String(this.#store.verdict(item.id) === verdict));
      return control;
    };
    const finish = button(
      say("foundThis", { title }),
      closeThen(() => this.#handlers.finish(item)),
      { icon: "check", text: say("foundIt"), className: "primary" },
    );
    const { similar } = this.#handlers;
    const moreLike = similar
      ? [
          button(
            say("card.similar", { title }),
            closeThen(() => similar(item)),
            { icon: "similar", text: say("moreLikeThis"), className: "similar" },
          ),
        ]
      : [];
    const judged = verdicts ? [rate("dislike"), rate("like"), finish] : [];
    return element("div", { className: "verdicts" }, ...judged, ...moreLike);
  }

  /** @param {Item} item @param {HTMLElement} place */
  async #explain(item, place) {
    const heading = element("h3", {}, say("whyThis"));
    place.append(heading, element("p", { className: "soft" }, say("thinking")));
    try {
      place.replaceChildren(heading, ...this.#reasons(await this.#handlers.explain(item.id)));
    } catch (error) {
      place.lastElementChild?.replaceWith(element("p", { className: "soft" }, errorMessage(error)));
    }
  }

  /** @param {Explanation} explanation @returns {Node[]} */
  #reasons({ clicks, text, text_pull: wordsPull }) {
    const { session } = this.#store;
    const texts = [...(session?.query ? [session.query] : []), ...(session?.said ?? [])];
    const strongest = Math.max(Math.abs(wordsPull), ...clicks.map(({ pull }) => Math.abs(pull)));
    const sentence = say("detail.wordsCount", { words: list(texts.map(quote)) });
    // A bar says how much they speak for the item; where they speak against it, there is none.
    const bar = wordsPull > LEAST_PULL ? [weightBar(wordsPull, strongest)] : [];
    const words =
      texts.length || text
        ? [element("p", {}, element("span", { className: "told" }, sentence, ...bar))]
        : [];
    if (!clicks.length) return texts.length ? words : [...words, element("p", {}, say("detail.noEvidence"))];
    const pro = clicks.filter(({ pull }) => pull > LEAST_PULL).sort((a, b) => b.pull - a.pull);
    const contra = clicks.filter(({ pull }) => pull < -LEAST_PULL).sort((a, b) => a.pull - b.pull);
    const weak = pro.length + contra.length ? [] : [element("p", {}, say("detail.weakEvidence"))];
    return [
      ...this.#contributions(say("detail.pro"), pro, strongest),
      ...this.#contributions(say("detail.contra"), contra, strongest),
      ...weak,
      ...words,
    ];
  }

  /** @param {string} heading @param {ClickContribution[]} clicks @param {number} strongest @returns {Node[]} */
  #contributions(heading, clicks, strongest) {
    if (!clicks.length) return [];
    const entries = clicks.slice(0, MOST_REASONS).map(({ item: id, pull, verdict, views }) => {
      const item = this.#store.item(id);
      const liked = verdict === "like";
      const text = say(liked ? "detail.liked" : "detail.disliked", { title: itemTitle(item) });
      const bar = weightBar(pull, strongest);
      return element(
        "li",
        {},
        element("span", { className: `thumb ${verdict}` }, itemFace(item), icon(liked ? "heart" : "cross")),
        element("span", { className: "told" }, text, ...viewNote(views, pull), bar),
      );
    });
    return [element("h4", {}, heading), element("ul", { className: "shares", role: "list" }, ...entries)];
  }
}

/** How much a reason counts. @param {number} pull @param {number} strongest of all reasons */
function weightBar(pull, strongest) {
  const bar = element("i", { className: "weight" });
  bar.style.width = `${Math.max(SHORTEST_BAR, (100 * Math.abs(pull)) / strongest)}%`;
  return bar;
}

/** What plays the sounds and films that an item has links to; nothing is fetched before somebody presses play. @param {Item} item @param {Formats} formats @returns {HTMLElement[]} */
function players(item, formats) {
  return knownAttributes(item).flatMap(([name, value]) => {
    const kind = isUrl(value) ? (SOUND.test(value) ? "audio" : FILM.test(value) ? "video" : null) : null;
    if (!kind) return [];
    const label = attributeLabel(name, formats);
    return [element(kind, { controls: true, preload: "none", src: value, "aria-label": label })];
  });
}

/** @param {Item} item @param {Formats} formats */
function attributeList(item, formats) {
  const rows = knownAttributes(item).flatMap(([name, value]) => {
    const content = isUrl(value)
      ? element("a", { href: value, target: "_blank", rel: "noopener noreferrer" }, value)
      : attributeText(value, formats[name]);
    return [element("dt", {}, attributeLabel(name, formats)), element("dd", {}, content)];
  });
  return element("dl", {}, ...rows);
}

/** By which view a click came, where it was mostly one of several. @param {Record<string, number>} views @param {number} pull @returns {Node[]} */
function viewNote(views, pull) {
  const [first] = Object.entries(views).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  if (!first || Object.keys(views).length < 2 || first[1] / pull < MAIN_VIEW_SHARE) return [];
  return [
    " ",
    element("small", { className: "soft" }, say("detail.byView", { view: viewName(first[0]) })),
  ].map((node) => (typeof node === "string" ? document.createTextNode(node) : node));
}
