// What a person can do in a session, as commands: what is sent, and what will be in effect then; and
// the queue of commands that the service has yet to confirm.

import { RefusedError, createIdempotencyKey } from "./api.js";

/** @typedef {"opened" | "basket" | "bought"} FoundReason */
/** @import { Filter, Session, Verdict } from "./types.js" */

/** What a person has put into a session, and what is in effect of it. @typedef {Pick<Session, "likes" | "dislikes" | "query" | "said" | "filter" | "focus">} Inputs */
/**
 * @typedef {object} Command
 * @property {"clicks" | "examples" | "undo" | "redo" | "say" | "unsay" | "filter" | "explore" | "focus" | "found"} path
 * @property {{item?: string, verdict?: Verdict, shown?: string[], count?: number, text?: string, clear?: boolean, filter?: Filter | null, level?: number, reason?: FoundReason, views?: Record<string, number>}} body
 * @property {Blob} [picture] goes with the body
 * @property {(inputs: Inputs) => Inputs} predict what is in effect once the service has confirmed it
 */

/** @type {Inputs} */
export const NO_INPUTS = { likes: [], dislikes: [], query: null, said: [], filter: null, focus: {} };

/** @param {string} item @param {Verdict} verdict @param {string[]} shown the items among which it was clicked @returns {Command} */
export function click(item, verdict, shown) {
  const without = (/** @type {string[]} */ ids) => ids.filter((id) => id !== item);
  return {
    path: "clicks",
    body: verdict === "clear" ? { item, verdict } : { item, verdict, shown },
    predict: (inputs) => ({
      ...inputs,
      likes: [...without(inputs.likes), ...(verdict === "like" ? [item] : [])],
      dislikes: [...without(inputs.dislikes), ...(verdict === "dislike" ? [item] : [])],
    }),
  };
}

/** Say that a picture shows what is looked for, or something like it. @param {Blob} picture @returns {Command} */
export function likeExample(picture) {
  return { path: "examples", body: {}, picture, predict: unchanged };
}

/** Go so many steps back, below zero, or forward again. @param {number} steps @returns {Command} */
export function travel(steps) {
  const count = Math.abs(steps);
  return { path: steps < 0 ? "undo" : "redo", body: count === 1 ? {} : { count }, predict: unchanged };
}

/** @param {string} text @returns {Command} */
export function say(text) {
  const predict = (/** @type {Inputs} */ inputs) => ({ ...inputs, said: [...inputs.said, text] });
  return { path: "say", body: { text }, predict };
}

/** @param {string} text @returns {Command} */
export function unsay(text) {
  const predict = (/** @type {Inputs} */ inputs) => ({
    ...inputs,
    query: inputs.query === text ? null : inputs.query,
    said: inputs.said.filter((other) => other !== text),
  });
  return { path: "unsay", body: { text }, predict };
}

/** @param {Filter | null} filter @returns {Command} */
export function setFilter(filter) {
  return { path: "filter", body: { filter }, predict: (inputs) => ({ ...inputs, filter }) };
}

/** @param {number} level @returns {Command} */
export function setExploration(level) {
  return { path: "explore", body: { level }, predict: unchanged };
}

/** Say what matters, by view. @param {Record<string, number>} views @returns {Command} */
export function setFocus(views) {
  return { path: "focus", body: { views }, predict: (inputs) => ({ ...inputs, focus: views }) };
}

/** @param {string} item @param {FoundReason} [reason] how the site knows, where nobody has said so @returns {Command} */
export function finish(item, reason) {
  return { path: "found", body: { item, ...(reason ? { reason } : {}) }, predict: unchanged };
}

/** @param {Inputs} inputs */
const unchanged = (inputs) => inputs;

/** @typedef {{command: Command, idempotencyKey: string, onConfirm: (session: Session) => void}} PendingCommand */

/** Commands that are sent one after the other, each under a key of its own: none is lost or counted twice. */
export class PendingCommands {
  /** @type {PendingCommand[]} */
  #queue = [];

  get isEmpty() {
    return this.#queue.length === 0;
  }

  /** @param {Command} command @param {(session: Session) => void} [onConfirm] called once the service has confirmed it */
  add(command, onConfirm = () => {}) {
    this.#queue.push({ command, idempotencyKey: createIdempotencyKey(), onConfirm });
  }

  clear() {
    this.#queue = [];
  }

  /** What is in effect once all of them are confirmed. @param {Inputs} inputs @returns {Inputs} */
  predict(inputs) {
    return this.#queue.reduce((predicted, { command }) => command.predict(predicted), inputs);
  }

  /**
   * Send all of them, and those that are added meanwhile.
   *
   * @param {(command: Command, idempotencyKey: string) => Promise<Session>} send
   * @param {(session: Session) => void} onSession
   * @param {(refusal: RefusedError) => void} onRefusal
   */
  async flush(send, onSession, onRefusal) {
    for (let next = this.#queue[0]; next; next = this.#queue[0]) {
      try {
        const session = await send(next.command, next.idempotencyKey);
        this.#queue.shift();
        onSession(session);
        next.onConfirm(session);
      } catch (error) {
        if (!(error instanceof RefusedError)) throw error;
        this.#queue.shift();
        onRefusal(error);
      }
    }
  }
}
