// One search: what is known of it, and what is under way.
//
// What has been done is shown at once; if the service refuses it, it is taken back with a sentence;
// if the service cannot be reached, it is kept and sent again.

import { Refusal, requestKey, wordsOf } from "./asking.js";
import { Deeds } from "./deeds.js";
import { Items } from "./items.js";
import { Patience } from "./patience.js";
import { Slowness } from "./slowness.js";
import { beliefOf } from "./thinking.js";
import { NOTHING } from "./verbs.js";

/** @import { Service } from "./service.js" */
/** @import { Place, Session, Wish } from "./types.js" */
/** @import { Deed, Effect } from "./verbs.js" */

/** Tells of every change by the event "change"; of a new answer by "answer", of a refusal by "refused". */
export class Search extends EventTarget {
  /** @type {"loading" | "ready" | "gone" | "failed"} */
  phase = "loading";
  /** @type {Session | null} */
  answer = null;
  /** @type {Place | null} */
  place = null;
  /** Why there is nothing to show, in words. */
  trouble = "";
  items;

  #deeds = new Deeds();
  #working = false;
  /** The answer that was told of last. @type {Session | null} */
  #taken = null;
  #course = new AbortController();
  #patience = new Patience(() => this.#tell());
  #slowness = new Slowness(() => this.#tell());
  #service;
  #plain;

  /** @param {Service} service @param {boolean} plain whether the belief is of no interest */
  constructor(service, plain) {
    super();
    this.#service = service;
    this.#plain = plain;
    this.items = new Items(
      (catalog, id) => this.insist(() => service.item(catalog, id)),
      () => this.#tell(),
    );
  }

  get busy() {
    return this.#working || this.#deeds.any;
  }

  /** Whether the person has done something that the service does not know of yet. */
  get unsent() {
    return this.#deeds.any;
  }

  /** Why the service cannot be reached, or nothing. */
  get unreachable() {
    return this.#patience.trouble;
  }

  get slow() {
    return this.#slowness.slow;
  }

  get readOnly() {
    return this.place?.kind === "shared";
  }

  /** What is in effect, as the person sees it already. @returns {Effect} */
  get foreseen() {
    return this.#deeds.foresee(this.answer ?? NOTHING);
  }

  /** @param {string} item @returns {"like" | "dislike" | null} */
  verdict(item) {
    const { likes, dislikes } = this.foreseen;
    if (likes.includes(item)) return "like";
    return dislikes.includes(item) ? "dislike" : null;
  }

  /** An item by its id; one that was never seen here is fetched, and told of when it is there. @param {string} id */
  item(id) {
    return this.items.get(this.answer?.catalog ?? "", id);
  }

  /** @param {Place} place */
  open(place) {
    return this.#enter(place, () => this.#service.open(place));
  }

  /** @param {Wish} wish */
  start(wish) {
    const key = requestKey();
    return this.#enter(null, () => this.#service.start(wish, key));
  }

  /** Go on from a search that can only be read. */
  fork() {
    const { place } = this;
    if (!place) return Promise.resolve(null);
    const key = requestKey();
    return this.#enter(null, () => this.#service.fork(place, key));
  }

  /** Leave everything: nothing more will be told or asked. */
  close() {
    this.#course.abort();
    this.#slowness.end();
    this.#deeds.forget();
    this.retry();
  }

  /** @param {Deed} deed @param {(answer: Session) => void} [done] called once the service has confirmed it */
  do(deed, done = () => {}) {
    if (!this.answer || this.readOnly || this.phase !== "ready") return;
    this.#deeds.add(deed, done);
    this.#tell();
    if (!this.#working) this.#work();
  }

  /** Ask again at once for what could not be reached. */
  retry() {
    this.#patience.retry();
  }

  /** Take in where the session is now. */
  async reload() {
    const { place } = this;
    if (place && !this.#working) await this.open(place);
  }

  /**
   * Ask until there is an answer, however long the service is away.
   *
   * @template Answer
   * @param {() => Promise<Answer>} ask
   * @param {AbortSignal} [course] ends the asking; the search that is open, unless another is given
   * @returns {Promise<Answer>}
   */
  insist(ask, course = this.#course.signal) {
    return this.#patience.insist(ask, course);
  }

  /**
   * @param {Place | null} place
   * @param {() => Promise<Session>} ask
   * @returns {Promise<Session | null>}
   */
  async #enter(place, ask) {
    this.close();
    const course = (this.#course = new AbortController()).signal;
    this.phase = "loading";
    this.place = place;
    this.#begin();
    this.#tell();
    try {
      const answer = await this.insist(ask, course);
      this.place = place?.kind === "shared" ? place : { kind: "session", id: answer.id };
      this.phase = "ready";
      this.#end();
      this.#take(answer);
      return answer;
    } catch (problem) {
      if (course.aborted) return null;
      this.phase = problem instanceof Refusal && problem.status === 404 && place ? "gone" : "failed";
      this.trouble = wordsOf(problem);
      this.#end();
      this.#tell();
      return null;
    }
  }

  async #work() {
    const course = this.#course.signal;
    this.#begin();
    try {
      await this.#deeds.work(
        (deed, key) => {
          const now = /** @type {Session} */ (this.answer);
          return this.insist(() => this.#service.act(now, deed, key), course);
        },
        (answer) => this.#answered(answer),
        (refusal) => this.#refused(refusal),
      );
    } catch (problem) {
      if (!course.aborted) throw problem;
    } finally {
      if (!course.aborted) {
        this.#end();
        this.#tell();
      }
    }
  }

  #begin() {
    this.#working = true;
    this.#slowness.begin();
  }

  #end() {
    this.#working = false;
    this.#slowness.end();
  }

  /** @param {Session} answer */
  #answered(answer) {
    this.answer = answer;
    // What waits was done on the page before: only the last answer is worth painting.
    if (!this.#deeds.any) this.#take(answer);
  }

  /** @param {Refusal} refusal */
  #refused(refusal) {
    const { answer, place } = this;
    if (refusal.session) {
      // What was done after it was done on a page that is no more.
      this.#deeds.forget();
      this.#take(refusal.session);
    } else if (refusal.status === 404 && place) {
      // Either the item or the whole session is no longer there: opening it again tells which.
      this.open(place);
    } else if (answer && answer !== this.#taken && !this.#deeds.any) {
      this.#take(answer);
    }
    this.#tell();
    this.dispatchEvent(new CustomEvent("refused", { detail: refusal }));
  }

  /** @param {Session} answer */
  #take(answer) {
    this.answer = answer;
    this.#taken = answer;
    this.items.add(answer.catalog, answer.page.items);
    this.dispatchEvent(new CustomEvent("answer", { detail: answer }));
    this.#tell();
    if (!answer.belief && !this.#plain) this.#think(answer);
  }

  /** @param {Session} answer one whose belief is still being computed */
  async #think(answer) {
    const { place } = this;
    const course = this.#course.signal;
    if (!place) return;
    const wanted = () => !course.aborted && this.answer === answer;
    answer.belief = await beliefOf(answer, () => this.#service.open(place), wanted);
    if (answer.belief) this.#tell();
  }

  #tell() {
    this.dispatchEvent(new CustomEvent("change"));
  }
}
