// The HTTP interface: one method per call. A failure is one of two errors, each with a sentence for people.

import { say, sayProblem } from "./strings.js";

/** @import { CatalogDetails, CatalogSummary, Explanation, Item, Page, Session, SessionOptions, SessionRef } from "./types.js" */
/** @import { Command } from "./commands.js" */

/** The service has said no, and would say no again. */
export class RefusedError extends Error {
  /** @param {string} message @param {number} status @param {string} code @param {Session | null} session */
  constructor(message, status, code, session) {
    super(message);
    this.status = status;
    /** What it is about, by a name that stays. */
    this.code = code;
    /** Where the session is now, if the service has told. */
    this.session = session;
  }
}

/** The service cannot be reached, or has too much to do: the same may work a little later. */
export class UnreachableError extends Error {
  /** @param {string} message @param {number | null} retryAfter milliseconds, if the service has told */
  constructor(message, retryAfter = null) {
    super(message);
    this.retryAfter = retryAfter;
  }
}

const RETRYABLE_STATUSES = new Set([408, 429, 502, 503, 504]);
const NO_CONTENT = 204;
/** What the service answers of an item that has left the catalog. */
export const ITEM_GONE = 410;
const TIMEOUT_MS = 30_000;

/** How requests are sent: over the network, or to whoever answers in its place. @typedef {(url: URL, init: RequestInit) => Promise<Response>} Fetch */

/** @type {Fetch} */
const fetchFromNetwork = (url, init) => fetch(url, init);

/** A name for a request, so that a retry of it is never counted twice. @returns {string} */
export function createIdempotencyKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}

/**
 * Make one request.
 *
 * @param {"GET" | "POST" | "DELETE"} method
 * @param {URL} url
 * @param {{body?: object | undefined, idempotencyKey?: string | undefined, picture?: Blob | undefined}} [options] picture: a file that goes with the body
 * @param {Fetch} [send]
 * @returns {Promise<any>} the answer's content
 */
export async function request(method, url, { body, idempotencyKey, picture } = {}, send = fetchFromNetwork) {
  /** @type {Record<string, string>} */
  const headers = {};
  if (body !== undefined && !picture) headers["Content-Type"] = "application/json";
  if (idempotencyKey !== undefined) headers["Idempotency-Key"] = idempotencyKey;
  /** @type {Response} */
  let response;
  /** @type {any} */
  let content;
  try {
    response = await send(url, {
      method,
      headers,
      body: requestBody(body, picture),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    content = response.status === NO_CONTENT ? null : await response.json();
  } catch {
    throw new UnreachableError(say("problem.unreachable"));
  }
  if (response.ok) return content;
  const sentence = [content.detail, content.hint].filter(Boolean).join(" ") || response.statusText;
  const message = sayProblem(content.code, sentence);
  if (RETRYABLE_STATUSES.has(response.status)) {
    const seconds = Number(response.headers.get("Retry-After"));
    throw new UnreachableError(message, seconds > 0 ? seconds * 1000 : null);
  }
  throw new RefusedError(message, response.status, content.code ?? "", content.session ?? null);
}

/** @param {object | undefined} body @param {Blob | undefined} picture */
function requestBody(body, picture) {
  if (body === undefined) return null;
  if (!picture) return JSON.stringify(body);
  const form = new FormData();
  form.set("request", JSON.stringify(body));
  form.set("picture", picture);
  return form;
}

/** What went wrong, in words. @param {unknown} error */
export const errorMessage = (error) => (error instanceof Error ? error.message : String(error));

export class ApiClient {
  #base;
  #send;

  /** @param {URL} base where the service is: the page may stand on another site, and the service below a path of its own @param {Fetch} [send] */
  constructor(base, send = fetchFromNetwork) {
    this.#base = base;
    this.#send = send;
  }

  /** @returns {Promise<CatalogSummary[]>} */
  async catalogs() {
    return (await this.#request("GET", "/v1/catalogs")).catalogs;
  }

  /** @param {string} name @returns {Promise<CatalogDetails>} */
  catalog(name) {
    return this.#request("GET", `/v1/catalogs/${encodeURIComponent(name)}`);
  }

  /** @param {string} catalog @param {string} id @returns {Promise<Item>} */
  async item(catalog, id) {
    const path = `/v1/items/${encodeURIComponent(catalog)}/${encodeURIComponent(id)}`;
    return this.#resolveMedia(await this.#request("GET", path));
  }

  /** @param {SessionOptions} options @param {string} idempotencyKey */
  async createSession(options, idempotencyKey) {
    return this.#resolvePage(await this.#request("POST", "/v1/sessions", options, idempotencyKey));
  }

  /** @param {SessionRef} ref */
  async session(ref) {
    return this.#resolvePage(await this.#request("GET", sessionPath(ref)));
  }

  /** @param {SessionRef} ref @param {number} offset @param {number} limit @returns {Promise<Page>} */
  async items(ref, offset, limit) {
    const page = await this.#request("GET", `${sessionPath(ref)}/items?offset=${offset}&limit=${limit}`);
    page.items.forEach((/** @type {Item} */ item) => this.#resolveMedia(item));
    return page;
  }

  /** @param {SessionRef} ref @param {string} item @returns {Promise<Explanation>} */
  explain(ref, item) {
    return this.#request("GET", `${sessionPath(ref)}/explain/${encodeURIComponent(item)}`);
  }

  /** When a session began and was last active, in seconds. @param {SessionRef} ref @returns {Promise<{began: number, active: number}>} */
  times(ref) {
    return this.#request("GET", `${sessionPath(ref)}/events`);
  }

  /** @param {SessionRef} ref @returns {Promise<string>} the token under which it can be read */
  async share(ref) {
    return (await this.#request("POST", `${sessionPath(ref)}/share`, {})).share;
  }

  /** @param {SessionRef} ref @param {string} idempotencyKey */
  async fork(ref, idempotencyKey) {
    return this.#resolvePage(await this.#request("POST", `${sessionPath(ref)}/fork`, {}, idempotencyKey));
  }

  /** @param {Session} session as it is known here @param {Command} command @param {string} idempotencyKey */
  async send(session, { path, body, picture }, idempotencyKey) {
    const url = `/v1/sessions/${encodeURIComponent(session.id)}/${path}`;
    return this.#resolvePage(
      await this.#request("POST", url, { ...body, step: session.step }, idempotencyKey, picture),
    );
  }

  /**
   * @param {"GET" | "POST"} method
   * @param {string} path
   * @param {object} [body]
   * @param {string} [idempotencyKey]
   * @param {Blob} [picture]
   * @returns {Promise<any>}
   */
  async #request(method, path, body, idempotencyKey, picture) {
    try {
      const url = new URL(`.${path}`, this.#base);
      return await request(method, url, { body, idempotencyKey, picture }, this.#send);
    } catch (error) {
      if (error instanceof RefusedError && error.session) this.#resolvePage(error.session);
      throw error;
    }
  }

  /** @param {Session} session */
  #resolvePage(session) {
    for (const item of [...session.page.items, ...session.examples]) this.#resolveMedia(item);
    for (const example of session.examples) example.title = say("card.example");
    return session;
  }

  /** @param {Item} item @returns {Item} the item, with an address that holds on any site */
  #resolveMedia(item) {
    const resolve = (/** @type {string} */ path) => new URL(`.${path}`, this.#base).href;
    if (item.media?.startsWith("/")) item.media = resolve(item.media);
    for (const [size, path] of Object.entries(item.pictures ?? {})) {
      if (item.pictures && path.startsWith("/")) item.pictures[size] = resolve(path);
    }
    return item;
  }
}

/** @param {SessionRef} ref */
function sessionPath({ kind, id }) {
  return `/v1/${kind === "shared" ? "shared" : "sessions"}/${encodeURIComponent(id)}`;
}
