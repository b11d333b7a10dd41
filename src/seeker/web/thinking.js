// A belief that the service is still computing is asked for again, ever more seldom.

import { Unreachable } from "./asking.js";

/** @import { Belief, Session } from "./types.js" */

const FIRST = 120;
const LONGEST = 8000;

/**
 * Wait for the belief of an answer that came without one.
 *
 * @param {Session} answer
 * @param {() => Promise<Session>} look asks for the same session again
 * @param {() => boolean} wanted whether the answer is still the one that is shown
 * @returns {Promise<Belief | null>} nothing: it is no longer wanted, or cannot be had
 */
export async function beliefOf(answer, look, wanted) {
  for (let pause = FIRST; ; pause = Math.min(2 * pause, LONGEST)) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    if (!wanted()) return null;
    try {
      const again = await look();
      if (!wanted() || again.step !== answer.step) return null;
      if (again.belief) return again.belief;
    } catch (problem) {
      if (!(problem instanceof Unreachable)) return null;
    }
  }
}
