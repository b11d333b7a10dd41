// All items that were seen here, by id.

/** @import { Service } from "./service.js" */
/** @import { Item } from "./types.js" */

export class Items {
  /** @type {Map<string, Item>} */
  #known = new Map();
  #service;
  #tell;

  /** @param {Service} service @param {() => void} tell called when an item that was asked for has come */
  constructor(service, tell) {
    this.#service = service;
    this.#tell = tell;
  }

  /** @param {Item[]} items */
  add(items) {
    for (const item of items) this.#known.set(item.id, item);
  }

  /** An item; one that was never seen here is fetched, and stood in for until it comes. @param {string} id @param {string} catalog @returns {Item} */
  get(id, catalog) {
    const item = this.#known.get(id);
    if (item) return item;
    const standIn = { id, title: "…", media: null, attributes: {} };
    this.#known.set(id, standIn);
    this.#fetch(id, catalog);
    return standIn;
  }

  /** @param {string} id @param {string} catalog */
  async #fetch(id, catalog) {
    try {
      this.#known.set(id, await this.#service.item(catalog, id));
    } catch {
      // It may have left the catalog, or the service is away: its id must do.
      this.#known.set(id, { id, title: id, media: null, attributes: {} });
    }
    this.#tell();
  }
}
