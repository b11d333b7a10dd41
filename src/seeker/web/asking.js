// One request to the service. A failure is one of two errors, each with a sentence for people.

/** @import { Session } from "./types.js" */

/** The service has said no, and would say no again. */
export class Refusal extends Error {
  /** @param {string} message @param {number} status @param {Session | null} session */
  constructor(message, status, session) {
    super(message);
    this.status = status;
    /** Where the session is now, if the service has told. */
    this.session = session;
  }
}

/** The service cannot be reached, or has too much to do: the same may work a little later. */
export class Unreachable extends Error {
  /** @param {string} message @param {number | null} wait milliseconds, if the service has told */
  constructor(message, wait = null) {
    super(message);
    this.wait = wait;
  }
}

const LATER = new Set([408, 429, 502, 503, 504]);
const PATIENCE = 30_000;
const EMPTY = 204;

/** @returns {string} a name for a request, so that a retry of it is never counted twice */
export function requestKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((one) => one.toString(16).padStart(2, "0"))
    .join("");
}

/**
 * @param {"GET" | "POST" | "DELETE"} method
 * @param {URL} address
 * @param {{body?: object | undefined, key?: string | undefined}} [sent] key: a name for the request
 * @returns {Promise<any>} what the service has answered
 */
export async function ask(method, address, { body, key } = {}) {
  /** @type {Record<string, string>} */
  const headers = {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key !== undefined) headers["Idempotency-Key"] = key;
  /** @type {Response} */
  let answer;
  /** @type {any} */
  let content;
  try {
    answer = await fetch(address, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(PATIENCE),
    });
    content = answer.status === EMPTY ? null : await answer.json();
  } catch {
    throw new Unreachable("Seeker cannot be reached just now.");
  }
  if (answer.ok) return content;
  const words = [content.detail, content.hint].filter(Boolean).join(" ") || answer.statusText;
  if (LATER.has(answer.status)) {
    const wait = Number(answer.headers.get("Retry-After"));
    throw new Unreachable(words, wait > 0 ? wait * 1000 : null);
  }
  throw new Refusal(words, answer.status, content.session ?? null);
}

/** What went wrong, in words. @param {unknown} problem */
export const wordsOf = (problem) => (problem instanceof Error ? problem.message : String(problem));
