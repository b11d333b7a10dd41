// What a person has done and the service has yet to confirm: sent one after the other, each under
// its own request key.

import { Refusal, requestKey } from "./asking.js";

/** @import { Deed, Effect } from "./verbs.js" */
/** @import { Session } from "./types.js" */

/** done: called once it is confirmed. @typedef {{deed: Deed, key: string, done: (answer: Session) => void}} Waiting */

export class Deeds {
  /** @type {Waiting[]} */
  #waiting = [];

  /** Whether anything waits to be confirmed. */
  get any() {
    return this.#waiting.length > 0;
  }

  /** @param {Deed} deed @param {(answer: Session) => void} done called once it is confirmed */
  add(deed, done) {
    this.#waiting.push({ deed, key: requestKey(), done });
  }

  forget() {
    this.#waiting = [];
  }

  /** How things stand once all of it is confirmed. @param {Effect} now @returns {Effect} */
  foresee(now) {
    return this.#waiting.reduce((before, { deed }) => deed.foresee(before), now);
  }

  /**
   * Send all of it, and what is added meanwhile.
   *
   * @param {(deed: Deed, key: string) => Promise<Session>} send
   * @param {(answer: Session) => void} answered
   * @param {(refusal: Refusal) => void} refused
   */
  async work(send, answered, refused) {
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      try {
        const answer = await send(next.deed, next.key);
        this.#waiting.shift();
        answered(answer);
        next.done(answer);
      } catch (problem) {
        if (!(problem instanceof Refusal)) throw problem;
        this.#waiting.shift();
        refused(problem);
      }
    }
  }
}
