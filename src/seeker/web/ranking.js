// One ranking of the whole catalog, fetched in blocks as far as somebody looks at it.

/** @import { Item, Page } from "./types.js" */

const BLOCK = 48;
const AT_ONCE = 2;

export class Ranking {
  /** By place. @type {Map<number, Item>} */
  #items = new Map();
  /** @type {Map<string, number>} */
  #places = new Map();
  /** Blocks that are asked for now. @type {Set<number>} */
  #asked = new Set();
  /** @type {[number, number]} */
  #wanted = [0, 0];
  /** Whether the service now has another one. */
  #moved = false;
  #fetch;
  #tell;

  /**
   * @param {Page} page the first items
   * @param {(offset: number, limit: number) => Promise<Page | null>} fetch null: no longer wanted
   * @param {(problem: "moved" | null) => void} tell called when more is known; "moved":
   *   the service now has another ranking, which happens when the session goes on elsewhere
   */
  constructor(page, fetch, tell) {
    this.total = page.total;
    /** Where it ends, as far as is known: earlier where a part of the catalog cannot be asked. */
    this.end = page.total;
    /** Whether a part of the catalog could not be asked. */
    this.partial = false;
    this.first = page.items.length;
    this.#fetch = fetch;
    this.#tell = tell;
    this.#add(page);
  }

  /** @param {number} place @returns {Item | undefined} */
  at(place) {
    return this.#items.get(place);
  }

  /** Have the items of these places fetched, those wanted last before others. @param {number} from @param {number} to */
  want(from, to) {
    if (this.#moved) return;
    this.#wanted = [from, to];
    this.#go();
  }

  #go() {
    const from = this.#wanted[0];
    const to = Math.min(this.#wanted[1], this.end);
    for (let block = Math.floor(from / BLOCK); block * BLOCK < to; block += 1) {
      if (this.#asked.size >= AT_ONCE) return;
      if (
        !this.#asked.has(block) &&
        this.#lacks(Math.max(from, block * BLOCK), Math.min(to, (block + 1) * BLOCK))
      )
        this.#get(block);
    }
  }

  /** @param {number} block */
  async #get(block) {
    this.#asked.add(block);
    const limit = Math.min(BLOCK, this.total - block * BLOCK);
    const page = await this.#fetch(block * BLOCK, limit);
    this.#asked.delete(block);
    if (!page) return;
    if (!this.#add(page)) {
      // No part of it fits any more: asking on would give the same answer for ever.
      this.#wanted = [0, 0];
      this.#moved = true;
      return this.#tell("moved");
    }
    if (page.items.length < limit) this.end = Math.min(this.end, page.offset + page.items.length);
    this.#tell(null);
    this.#go();
  }

  /** @param {number} from @param {number} to */
  #lacks(from, to) {
    for (let place = from; place < to; place += 1) if (!this.#items.has(place)) return true;
    return false;
  }

  /** @param {Page} page @returns {boolean} whether it fits to what is known */
  #add(page) {
    if (page.total !== this.total) return false;
    this.partial ||= Boolean(page.partial);
    return page.items.every((item, index) => {
      const place = page.offset + index;
      if ((this.#places.get(item.id) ?? place) !== place) return false;
      if ((this.#items.get(place)?.id ?? item.id) !== item.id) return false;
      this.#items.set(place, item);
      this.#places.set(item.id, place);
      return true;
    });
  }
}
