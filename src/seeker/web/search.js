// One search: what is known of it, and what a person has done that the service has yet to confirm.
//
// Things done are sent one after the other, each under its own request key. What has been done is
// shown at once; if the service refuses it, it is taken back with a sentence; if the service cannot
// be reached, it is kept and sent again.

import { NOTHING, judging, narrowing, saying, unsaying } from "./foreseen.js";
import { Items } from "./items.js";
import { Patience } from "./patience.js";
import { Refusal, requestKey } from "./service.js";
import { Slowness } from "./slowness.js";

/** @import { Service } from "./service.js" */
/** @import { Foreseen } from "./foreseen.js" */
/** @import { Filter, Place, Session, Verdict, Wish } from "./types.js" */

/**
 * @typedef {object} Deed
 * @property {string} key
 * @property {(now: Session, key: string) => Promise<Session>} send
 * @property {(before: Foreseen) => Foreseen} foresee
 * @property {(answer: Session) => void} done
 */

const BELIEF_PAUSES = [120, 250, 500, 1000, 2000, 4000];

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

  /** @type {Deed[]} */
  #deeds = [];
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
    this.items = new Items(service, () => this.#tell());
  }

  get busy() {
    return this.#working || this.#deeds.length > 0;
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

  /** What is in effect, as the person sees it already. @returns {Foreseen} */
  get foreseen() {
    return this.#deeds.reduce((before, deed) => deed.foresee(before), this.answer ?? NOTHING);
  }

  /** @param {string} item @returns {"like" | "dislike" | null} */
  verdict(item) {
    const { likes, dislikes } = this.foreseen;
    if (likes.includes(item)) return "like";
    return dislikes.includes(item) ? "dislike" : null;
  }

  /** An item by its id; one that was never seen here is fetched, and told of when it is there. @param {string} id */
  item(id) {
    return this.items.get(id, this.answer?.catalog ?? "");
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
    this.#deeds = [];
    this.retry();
  }

  /**
   * @param {string} item
   * @param {Verdict} verdict
   * @param {string[]} shown
   * @param {(answer: Session) => void} done
   */
  click(item, verdict, shown, done) {
    const said = verdict === "clear" ? { item, verdict } : { item, verdict, shown };
    this.#do("clicks", said, done, judging(item, verdict));
  }

  undo(count = 1) {
    this.#do("undo", this.#plain ? {} : { count });
  }

  redo(count = 1) {
    this.#do("redo", this.#plain ? {} : { count });
  }

  /** @param {string} text */
  say(text) {
    this.#do("text", { text }, undefined, saying(text));
  }

  /** @param {string} text */
  unsay(text) {
    this.#do("text", { text, clear: true }, undefined, unsaying(text));
  }

  /** @param {Filter | null} filter */
  narrow(filter) {
    this.#do("filter", { filter }, undefined, narrowing(filter));
  }

  /** @param {number} level */
  explore(level) {
    this.#do("exploration", { level });
  }

  /** @param {string} item @param {(answer: Session) => void} done */
  found(item, done) {
    this.#do("found", { item }, done);
  }

  /** Ask again at once for what could not be reached. */
  retry() {
    this.#patience.retry();
  }

  /** Take in where the session is now. */
  async reload() {
    const { place } = this;
    if (place && !this.#working) await this.#enter(place, () => this.#service.open(place));
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
    this.#working = true;
    this.phase = "loading";
    this.place = place;
    this.#tell();
    this.#slowness.begin();
    try {
      const answer = await this.insist(ask, course);
      this.place = place?.kind === "shared" ? place : { kind: "session", id: answer.id };
      this.#working = false;
      this.phase = "ready";
      this.#take(answer);
      return answer;
    } catch (problem) {
      if (course.aborted) return null;
      this.#working = false;
      this.phase = problem instanceof Refusal && problem.status === 404 && place ? "gone" : "failed";
      this.trouble = problem instanceof Error ? problem.message : String(problem);
      this.#tell();
      return null;
    } finally {
      if (!course.aborted) this.#slowness.end();
    }
  }

  /**
   * @param {Parameters<Service["act"]>[1]} verb
   * @param {Parameters<Service["act"]>[2]} said
   * @param {(answer: Session) => void} done
   * @param {(before: Foreseen) => Foreseen} foresee
   */
  #do(verb, said, done = () => {}, foresee = (before) => before) {
    if (!this.answer || this.readOnly || this.phase !== "ready") return;
    /** @type {Deed["send"]} */
    const send = (now, key) => this.#service.act(now, verb, said, key);
    this.#deeds.push({ key: requestKey(), send, foresee, done });
    this.#tell();
    if (!this.#working) this.#work();
  }

  async #work() {
    const course = this.#course.signal;
    this.#working = true;
    this.#slowness.begin();
    try {
      for (let deed = this.#deeds[0]; deed && this.answer; deed = this.#deeds[0]) {
        const { answer: now } = this;
        const current = deed;
        try {
          const answer = await this.insist(() => current.send(now, current.key), course);
          this.#deeds.shift();
          // What waits was done on the page before: only the last answer is worth painting.
          this.answer = answer;
          if (!this.#deeds.length) this.#take(answer);
          deed.done(answer);
        } catch (problem) {
          if (!(problem instanceof Refusal)) throw problem;
          this.#refused(problem);
        }
      }
    } catch (problem) {
      if (!course.aborted) throw problem;
    } finally {
      if (!course.aborted) {
        this.#slowness.end();
        this.#working = false;
        this.#tell();
      }
    }
  }

  /** @param {Refusal} refusal */
  #refused(refusal) {
    this.#deeds.shift();
    const { answer } = this;
    if (refusal.session) {
      // What was done after it was done on a page that is no more.
      this.#deeds = [];
      this.#take(refusal.session);
    } else if (refusal.status === 404 && this.place) {
      // Either the item or the whole session is no longer there: opening it again tells which.
      const { place } = this;
      this.#enter(place, () => this.#service.open(place));
    } else if (answer && answer !== this.#taken && !this.#deeds.length) {
      this.#take(answer);
    }
    this.#tell();
    this.dispatchEvent(new CustomEvent("refused", { detail: refusal }));
  }

  /** @param {Session} answer */
  #take(answer) {
    this.answer = answer;
    this.#taken = answer;
    this.items.add(answer.page.items);
    this.dispatchEvent(new CustomEvent("answer", { detail: answer }));
    this.#tell();
    if (!answer.belief && !this.#plain) this.#awaitBelief(answer);
  }

  /** A belief that is still being computed is asked for again. @param {Session} answer */
  async #awaitBelief(answer) {
    const { place } = this;
    const course = this.#course.signal;
    for (const pause of BELIEF_PAUSES) {
      await new Promise((resolve) => setTimeout(resolve, pause));
      if (course.aborted || this.answer !== answer || !place) return;
      const again = await this.#service.open(place).catch(() => null);
      if (course.aborted || this.answer !== answer || again?.step !== answer.step) return;
      answer.belief = again.belief;
      if (answer.belief) return this.#tell();
    }
  }

  #tell() {
    this.dispatchEvent(new CustomEvent("change"));
  }
}
