// All items that were seen here, of whichever catalog.

import { Refusal } from "./asking.js";

/** @import { Item } from "./types.js" */

export class Items {
  /** By catalog and id. @type {Map<string, Item>} */
  #known = new Map();
  #fetch;
  #tell;

  /**
   * @param {(catalog: string, id: string) => Promise<Item>} fetch
   * @param {() => void} tell called when an item that was asked for has come
   */
  constructor(fetch, tell) {
    this.#fetch = fetch;
    this.#tell = tell;
  }

  /** @param {string} catalog @param {Item[]} items */
  add(catalog, items) {
    for (const item of items) this.#known.set(keyOf(catalog, item.id), item);
  }

  /** An item; one that was never seen here is fetched, and stood in for until it comes. @param {string} catalog @param {string} id @returns {Item} */
  get(catalog, id) {
    const item = this.#known.get(keyOf(catalog, id));
    if (item) return item;
    const standIn = { id, title: "…", media: null, attributes: {} };
    this.add(catalog, [standIn]);
    this.#ask(catalog, id);
    return standIn;
  }

  /** @param {string} catalog @param {string} id */
  async #ask(catalog, id) {
    try {
      this.add(catalog, [await this.#fetch(catalog, id)]);
    } catch (problem) {
      // The search may have been left, and the item is of no interest until somebody comes back.
      if (!(problem instanceof Refusal)) return void this.#known.delete(keyOf(catalog, id));
      // It has left the catalog: its id must do.
      this.add(catalog, [{ id, title: "", media: null, attributes: {} }]);
    }
    this.#tell();
  }
}

/** @param {string} catalog @param {string} id */
const keyOf = (catalog, id) => JSON.stringify([catalog, id]);
