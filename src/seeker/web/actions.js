// What a person can do, and what then happens to the search, the address and the site around it.

import { addressOf } from "./address.js";
import { wordsOf } from "./asking.js";
import { beat } from "./motion.js";
import * as verbs from "./verbs.js";

/** @import { Address } from "./address.js" */
/** @import { Search } from "./search.js" */
/** @import { Service } from "./service.js" */
/** @import { Item, Verdict, Wish } from "./types.js" */
/** @import { View } from "./view.js" */

export class Actions {
  #host;
  #service;
  #search;
  #address;
  #view;

  /**
   * @param {HTMLElement} host
   * @param {Service} service
   * @param {Search} search
   * @param {Address | null} address
   * @param {View} view
   */
  constructor(host, service, search, address, view) {
    this.#host = host;
    this.#service = service;
    this.#search = search;
    this.#address = address;
    this.#view = view;
  }

  /** Start a new search. @param {Wish} wish */
  async begin(wish, push = true) {
    const catalog = wish.catalog ?? this.#host.getAttribute("catalog") ?? this.#search.answer?.catalog;
    const size = Number(this.#host.getAttribute("page-size"));
    const answer = await this.#search.start({
      ...wish,
      ...(catalog ? { catalog } : {}),
      ...(size > 0 ? { page_size: size } : {}),
    });
    if (answer) this.#address?.write({ kind: "session", id: answer.id }, push);
  }

  /** Like or dislike an item; the same once more takes it back. @param {string} item @param {"like" | "dislike"} verdict */
  judge(item, verdict) {
    this.click(item, this.#search.verdict(item) === verdict ? "clear" : verdict);
  }

  /** @param {string} item @param {Verdict} verdict */
  click(item, verdict) {
    if (this.#search.readOnly) return;
    const { grid, notices, panel } = this.#view;
    notices.say("");
    const face = grid.cardOf(item)?.querySelector(".face");
    if (face && verdict !== "clear") {
      panel.trays.from(item, face.getBoundingClientRect());
      beat(panel.more);
    }
    const done = (/** @type {object} */ session) => this.tell("click", { session, item, verdict });
    this.#search.do(verbs.click(item, verdict, grid.seen(item)), done);
  }

  /** @param {Item} item */
  found({ id, title }) {
    this.#search.do(verbs.find(id), (session) => this.tell("found", { session, item: id, title }));
  }

  /** Go so many steps back, below zero, or forward again. @param {number} by */
  travel(by) {
    this.#search.do(verbs.travel(by));
  }

  /** Words begin a search, or go into the one under way. @param {string} text */
  say(text) {
    const { answer } = this.#search;
    if (!answer) return;
    const fresh = answer.history.length === 0 && !answer.query;
    if (fresh) this.begin({ query: text, ...(answer.filter ? { filter: answer.filter } : {}) });
    else this.#search.do(verbs.say(text));
  }

  /** Offer a link to what is shown now. */
  async share() {
    const { place, readOnly } = this.#search;
    if (!place) return;
    const share = readOnly ? place.id : await this.unlessLeft(this.#service.share(place));
    if (share) this.#view.sharing.open(addressOf({ kind: "shared", id: share }));
  }

  /** Go on from a search that somebody else has shared. */
  async fork() {
    const answer = await this.#search.fork();
    if (answer) this.#address?.write({ kind: "session", id: answer.id }, true);
  }

  /** How many seconds a search has taken, if that can be known. @returns {Promise<number | null>} */
  async seconds() {
    const { place, readOnly } = this.#search;
    if (!place || readOnly) return null;
    const times = await this.unlessLeft(this.#service.times(place));
    return times && times.active - times.began;
  }

  /** Tell the site around us. @param {"session" | "click" | "found"} name @param {object} detail */
  tell(name, detail) {
    this.#host.dispatchEvent(new CustomEvent(`seeker:${name}`, { bubbles: true, composed: true, detail }));
  }

  /**
   * Wait for something; nothing comes if the search is left meanwhile, or if it is refused, which is said.
   *
   * @template Answer
   * @param {Promise<Answer>} asked
   * @returns {Promise<Answer | null>}
   */
  async unlessLeft(asked) {
    try {
      return await asked;
    } catch (problem) {
      const left = problem instanceof DOMException && problem.name === "AbortError";
      if (!left) this.#view.notices.say(wordsOf(problem));
      return null;
    }
  }
}
