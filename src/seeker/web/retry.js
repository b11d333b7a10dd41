// Waiting for the service: again when it is away, a word when it is slow, and a belief that comes later.

import { UnreachableError } from "./api.js";

/** @import { Belief, Session } from "./types.js" */

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 15_000;
const SLOW_AFTER_MS = 2500;
const FIRST_POLL_MS = 120;
const LONGEST_POLL_MS = 8000;

/** Asks again when the service is away, so that nothing that a person has done is lost. */
export class Retry {
  /** Why the service cannot be reached, or nothing. */
  error = "";
  /** What ends the pauses that are under way. @type {Set<() => void>} */
  #wakes = new Set();
  #onChange;
  #network;

  /**
   * @param {() => void} onChange called when there is an error, and when it is over
   * @param {EventTarget} [network] tells by "online" that the network is back
   */
  constructor(onChange, network = globalThis) {
    this.#onChange = onChange;
    this.#network = network;
  }

  /** End all pauses: ask again at once. */
  now() {
    for (const wake of [...this.#wakes]) wake();
  }

  /**
   * Call until there is an answer or a refusal.
   *
   * @template Value
   * @param {() => Promise<Value>} call
   * @param {AbortSignal} signal
   * @returns {Promise<Value>}
   */
  async run(call, signal) {
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        const value = await call();
        signal.throwIfAborted();
        this.#setError("");
        return value;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof UnreachableError)) throw error;
        this.#setError(error.message);
        await this.#pause(error.retryAfter ?? pause);
        signal.throwIfAborted();
      }
    }
  }

  /** @param {string} error */
  #setError(error) {
    if (error === this.error) return;
    this.error = error;
    this.#onChange();
  }

  /** @param {number} milliseconds */
  #pause(milliseconds) {
    return /** @type {Promise<void>} */ (
      new Promise((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          this.#network.removeEventListener("online", wake);
          this.#wakes.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, milliseconds);
        this.#network.addEventListener("online", wake);
        this.#wakes.add(wake);
      })
    );
  }
}

/** Tells when what is under way takes so long that people should know. */
export class SlowTimer {
  slow = false;
  #timer = 0;
  #onSlow;

  /** @param {() => void} onSlow */
  constructor(onSlow) {
    this.#onSlow = onSlow;
  }

  start() {
    this.stop();
    this.#timer = setTimeout(() => {
      this.slow = true;
      this.#onSlow();
    }, SLOW_AFTER_MS);
  }

  stop() {
    clearTimeout(this.#timer);
    this.slow = false;
  }
}

/**
 * Wait for the belief of a session that came without one: the service is still computing it, and is
 * asked ever more seldom.
 *
 * @param {Session} session
 * @param {() => Promise<Session>} reload asks for the same session again
 * @param {() => boolean} isCurrent whether the session is still the one on screen
 * @returns {Promise<Belief | null>} nothing: it is no longer wanted, or cannot be had
 */
export async function pollBelief(session, reload, isCurrent) {
  for (let pause = FIRST_POLL_MS; ; pause = Math.min(2 * pause, LONGEST_POLL_MS)) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    if (!isCurrent()) return null;
    try {
      const fresh = await reload();
      if (!isCurrent() || fresh.step !== session.step) return null;
      if (fresh.belief) return fresh.belief;
    } catch (error) {
      if (!(error instanceof UnreachableError)) return null;
    }
  }
}
