// One ranking of the whole catalog, fetched in blocks as far as somebody looks at it, and its display.

import { element, setText, textButton } from "../dom.js";
import { say } from "../strings.js";
import { isExhausted } from "./status.js";

/** @import { Grid } from "./grid.js" */
/** @import { Item, Page, Session } from "../types.js" */

const BLOCK_ITEMS = 48;
const PARALLEL_REQUESTS = 2;

/** Fetches a part of a ranking; null: it is no longer wanted. @typedef {(offset: number, limit: number) => Promise<Page | null>} FetchPage */

export class Ranking {
  /** By place. @type {Map<number, Item>} */
  #items = new Map();
  /** By item. @type {Map<string, number>} */
  #indices = new Map();
  /** Blocks that are being fetched. @type {Set<number>} */
  #loading = new Set();
  /** @type {[from: number, to: number]} */
  #range = [0, 0];
  /** Whether the service now has another one. */
  #stale = false;
  #fetch;
  #onChange;
  #onStale;

  /**
   * @param {Page} page the first items
   * @param {FetchPage} fetch
   * @param {() => void} onChange called when more is known
   * @param {() => void} onStale called when the service has another ranking by now, which happens
   *   when the session goes on elsewhere
   */
  constructor(page, fetch, onChange, onStale) {
    this.total = page.total;
    /** Where it ends, as far as is known: earlier where a part of the catalog cannot be asked. */
    this.end = page.total;
    /** Whether a part of the catalog could not be asked. */
    this.partial = false;
    this.pageSize = page.items.length;
    this.#fetch = fetch;
    this.#onChange = onChange;
    this.#onStale = onStale;
    this.#add(page);
  }

  /** @param {number} index @returns {Item | undefined} */
  at(index) {
    return this.#items.get(index);
  }

  /** Have the items of these places fetched, those wanted last before others. @param {number} from @param {number} to */
  load(from, to) {
    if (this.#stale) return;
    this.#range = [from, to];
    this.#loadBlocks();
  }

  #loadBlocks() {
    const from = this.#range[0];
    const to = Math.min(this.#range[1], this.end);
    for (let block = Math.floor(from / BLOCK_ITEMS); block * BLOCK_ITEMS < to; block += 1) {
      if (this.#loading.size >= PARALLEL_REQUESTS) return;
      const start = Math.max(from, block * BLOCK_ITEMS);
      const stop = Math.min(to, (block + 1) * BLOCK_ITEMS);
      if (!this.#loading.has(block) && this.#lacks(start, stop)) this.#loadBlock(block);
    }
  }

  /** @param {number} block */
  async #loadBlock(block) {
    this.#loading.add(block);
    const limit = Math.min(BLOCK_ITEMS, this.total - block * BLOCK_ITEMS);
    const page = await this.#fetch(block * BLOCK_ITEMS, limit);
    this.#loading.delete(block);
    if (!page) return;
    if (!this.#add(page)) {
      // No part of it fits any more: asking on would give the same answer for ever.
      this.#range = [0, 0];
      this.#stale = true;
      return this.#onStale();
    }
    if (page.items.length < limit) this.end = Math.min(this.end, page.offset + page.items.length);
    this.#onChange();
    this.#loadBlocks();
  }

  /** @param {number} from @param {number} to */
  #lacks(from, to) {
    for (let index = from; index < to; index += 1) if (!this.#items.has(index)) return true;
    return false;
  }

  /** @param {Page} page @returns {boolean} whether it fits to what is known */
  #add(page) {
    if (page.total !== this.total) return false;
    this.partial ||= Boolean(page.partial);
    return page.items.every((item, offset) => {
      const index = page.offset + offset;
      if ((this.#indices.get(item.id) ?? index) !== index) return false;
      if ((this.#items.get(index)?.id ?? item.id) !== item.id) return false;
      this.#items.set(index, item);
      this.#indices.set(item.id, index);
      return true;
    });
  }
}

/** The items on display: the head of a ranking, the way further down, and what is to be said of its end. */
export class RankingView {
  /** Whether the whole ranking can be scrolled through. */
  expanded = false;
  /** @type {Ranking | null} */
  #ranking = null;
  #grid;
  #onStale;

  /**
   * @param {Grid} grid
   * @param {() => void} onMore called when somebody wants to see more
   * @param {() => void} onStale called when the service has another ranking than the one on display
   */
  constructor(grid, onMore, onStale) {
    this.#grid = grid;
    this.#onStale = onStale;
    this.more = textButton(say("ranking.more"), onMore, { className: "explore" });
    this.partial = element("p", {
      className: "partial soft",
      part: "partial",
      "aria-live": "polite",
      hidden: true,
    });
    this.end = element("p", { className: "end soft", hidden: true });
  }

  /** Show a new ranking. @param {Session} session @param {boolean} expanded @param {FetchPage} fetch */
  show(session, expanded, fetch) {
    const ifCurrent = (/** @type {() => void} */ action) => () => {
      if (ranking === this.#ranking) action();
    };
    const onChange = () => {
      this.#grid.update();
      this.#updateTexts();
    };
    const ranking = new Ranking(session.page, fetch, ifCurrent(onChange), ifCurrent(this.#onStale));
    this.#ranking = ranking;
    this.expanded = expanded;
    this.#grid.show(ranking, isExhausted(session) ? 0 : expanded ? ranking.total : ranking.pageSize);
  }

  /** Let the whole ranking be scrolled through. */
  expand() {
    if (!this.#ranking) return;
    this.expanded = true;
    this.#grid.expand(this.#ranking.total);
    // The button that had the focus goes: go on where the new items begin.
    this.#grid.focusWhenLoaded(this.#ranking.pageSize);
  }

  /** @param {Session | null} session @param {boolean} visible whether there is room for items now */
  update(session, visible) {
    this.#grid.stage.hidden = !visible;
    const scrollable = visible && session !== null && !isExhausted(session);
    this.more.hidden = !scrollable || this.expanded || session.page.items.length >= session.page.total;
    this.end.hidden = !scrollable || !this.expanded;
    this.#updateTexts();
  }

  #updateTexts() {
    const { partial = false, total = 0 } = this.#ranking ?? {};
    this.partial.hidden = !partial || this.#grid.stage.hidden;
    setText(this.partial, partial ? say("ranking.partial") : "");
    this.end.textContent = partial ? say("ranking.partialEnd") : say("ranking.end", { count: total });
  }
}
