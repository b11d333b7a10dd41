// Asking again when the service is away: what was done is not lost, and never counted twice.

import { Unreachable } from "./asking.js";

const FIRST = 1000;
const LONGEST = 15_000;

export class Patience {
  /** Why the service cannot be reached, or nothing. */
  trouble = "";
  /** What ends the waiting. @type {Set<() => void>} */
  #wakes = new Set();
  #tell;

  /** @param {() => void} tell called when there is a trouble, and when it is over */
  constructor(tell) {
    this.#tell = tell;
  }

  /** Ask again at once. */
  retry() {
    for (const wake of [...this.#wakes]) wake();
  }

  /**
   * Ask until there is an answer or a refusal.
   *
   * @template Answer
   * @param {() => Promise<Answer>} ask
   * @param {AbortSignal} course
   * @returns {Promise<Answer>}
   */
  async insist(ask, course) {
    for (let pause = FIRST; ; pause = Math.min(pause * 2, LONGEST)) {
      try {
        const answer = await ask();
        course.throwIfAborted();
        this.#note("");
        return answer;
      } catch (problem) {
        course.throwIfAborted();
        if (!(problem instanceof Unreachable)) throw problem;
        this.#note(problem.message);
        await this.#rest(problem.wait ?? pause);
        course.throwIfAborted();
      }
    }
  }

  /** @param {string} trouble */
  #note(trouble) {
    if (trouble === this.trouble) return;
    this.trouble = trouble;
    this.#tell();
  }

  /** @param {number} pause */
  #rest(pause) {
    return /** @type {Promise<void>} */ (
      new Promise((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          removeEventListener("online", wake);
          this.#wakes.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, pause);
        addEventListener("online", wake);
        this.#wakes.add(wake);
      })
    );
  }
}
