// The calls of the HTTP interface. A failure is one of two errors, each with a sentence for people.

/** @import { CatalogAnswer, CatalogLine, Explanation, Filter, Item, Page, Place, Session, Verdict, Wish } from "./types.js" */

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

/** @returns {string} a name for a request, so that a retry of it is never counted twice */
export function requestKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((one) => one.toString(16).padStart(2, "0"))
    .join("");
}

export class Service {
  #base;

  /** @param {URL} base where the service is: the page may stand on another site */
  constructor(base) {
    this.#base = base;
  }

  /** @returns {Promise<CatalogLine[]>} */
  async catalogs() {
    return (await this.#ask("GET", "/v1/catalogs")).catalogs;
  }

  /** @param {string} name @returns {Promise<CatalogAnswer>} */
  catalog(name) {
    return this.#ask("GET", `/v1/catalogs/${encodeURIComponent(name)}`);
  }

  /** @param {string} catalog @param {string} id @returns {Promise<Item>} */
  async item(catalog, id) {
    const path = `/v1/items/${encodeURIComponent(catalog)}/${encodeURIComponent(id)}`;
    return this.#placed(await this.#ask("GET", path));
  }

  /** @param {Wish} wish @param {string} key */
  async start(wish, key) {
    return this.#shown(await this.#ask("POST", "/v1/sessions", wish, key));
  }

  /** @param {Place} place */
  async open(place) {
    return this.#shown(await this.#ask("GET", path(place)));
  }

  /** @param {Place} place @param {number} offset @param {number} limit @returns {Promise<Page>} */
  async items(place, offset, limit) {
    const page = await this.#ask("GET", `${path(place)}/items?offset=${offset}&limit=${limit}`);
    page.items.forEach((/** @type {Item} */ item) => this.#placed(item));
    return page;
  }

  /** @param {Place} place @param {string} item @returns {Promise<Explanation>} */
  explain(place, item) {
    return this.#ask("GET", `${path(place)}/explain/${encodeURIComponent(item)}`);
  }

  /** @param {Place} place @returns {Promise<{began: number, active: number}>} */
  times(place) {
    return this.#ask("GET", `${path(place)}/events`);
  }

  /** @param {Place} place @returns {Promise<string>} */
  async share(place) {
    return (await this.#ask("POST", `${path(place)}/share`, {})).share;
  }

  /** @param {Place} place @param {string} key */
  async fork(place, key) {
    return this.#shown(await this.#ask("POST", `${path(place)}/fork`, {}, key));
  }

  /**
   * Do something in a session.
   *
   * @param {Session} now the session as it is known
   * @param {"clicks" | "undo" | "redo" | "text" | "filter" | "exploration" | "found"} verb
   * @param {{item?: string, verdict?: Verdict, shown?: string[], count?: number, text?: string, clear?: boolean, filter?: Filter | null, level?: number}} said
   * @param {string} key
   */
  async act(now, verb, said, key) {
    const place = `/v1/sessions/${encodeURIComponent(now.id)}/${verb}`;
    return this.#shown(await this.#ask("POST", place, { ...said, step: now.step }, key));
  }

  /** @param {Item} item @returns {string} where the item can be looked at */
  address(item, catalog = "") {
    for (const value of Object.values(item.attributes)) {
      if (typeof value === "string" && /^https?:\/\/\S+$/.test(value)) return value;
    }
    const path = `/v1/items/${encodeURIComponent(catalog)}/${encodeURIComponent(item.id)}`;
    return item.media ?? new URL(path, this.#base).href;
  }

  /**
   * @param {"GET" | "POST"} method
   * @param {string} path
   * @param {object} [body]
   * @param {string} [key]
   * @returns {Promise<any>}
   */
  async #ask(method, path, body, key) {
    /** @type {Record<string, string>} */
    const headers = {};
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (key !== undefined) headers["Idempotency-Key"] = key;
    /** @type {Response} */
    let answer;
    /** @type {any} */
    let content;
    try {
      answer = await fetch(new URL(path, this.#base), {
        method,
        headers,
        body: body === undefined ? null : JSON.stringify(body),
        signal: AbortSignal.timeout(PATIENCE),
      });
      content = await answer.json();
    } catch {
      throw new Unreachable("Seeker cannot be reached just now.");
    }
    if (answer.ok) return content;
    const words = [content.detail, content.hint].filter(Boolean).join(" ") || answer.statusText;
    if (LATER.has(answer.status)) {
      const wait = Number(answer.headers.get("Retry-After"));
      throw new Unreachable(words, wait > 0 ? wait * 1000 : null);
    }
    throw new Refusal(words, answer.status, content.session ? this.#shown(content.session) : null);
  }

  /** @param {Session} session */
  #shown(session) {
    session.page.items.forEach((item) => this.#placed(item));
    return session;
  }

  /** @param {Item} item @returns {Item} the item, with an address that holds on any site */
  #placed(item) {
    if (item.media) item.media = new URL(item.media, this.#base).href;
    return item;
  }
}

/** @param {Place} place */
function path({ kind, id }) {
  return `/v1/${kind === "shared" ? "shared" : "sessions"}/${encodeURIComponent(id)}`;
}
