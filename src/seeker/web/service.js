// The calls of the HTTP interface.

import { Refusal, ask } from "./asking.js";

/** @import { CatalogAnswer, CatalogLine, Explanation, Item, Page, Place, Session, Wish } from "./types.js" */
/** @import { Deed } from "./verbs.js" */

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

  /** Do something in a session. @param {Session} now as it is known @param {Deed} deed @param {string} key */
  async act(now, { verb, said }, key) {
    const place = `/v1/sessions/${encodeURIComponent(now.id)}/${verb}`;
    return this.#shown(await this.#ask("POST", place, { ...said, step: now.step }, key));
  }

  /**
   * @param {"GET" | "POST"} method
   * @param {string} path
   * @param {object} [body]
   * @param {string} [key]
   * @returns {Promise<any>}
   */
  async #ask(method, path, body, key) {
    try {
      return await ask(method, new URL(path, this.#base), { body, key });
    } catch (problem) {
      if (problem instanceof Refusal && problem.session) this.#shown(problem.session);
      throw problem;
    }
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
