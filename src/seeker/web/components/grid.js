// The grid: as many cards of a ranking as can be seen, be it twelve items or a hundred thousand.

import { animateChanges, measurePositions } from "../animation.js";
import { element, rootOf, setChildren } from "../dom.js";
import { say } from "../strings.js";
import { createCard, createSkeleton, findControl, setFormats, setPictureWidth, setVerdict } from "./card.js";

/** @import { Ranking } from "./ranking.js" */
/** @import { Card, CardHandlers } from "./card.js" */
/** @import { Formats } from "../types.js" */

/** What stands above the grid, and the bar that may lie over its lower edge, in pixels. */
const HEADER_PX = 84;
const BAR_PX = 64;
/** Twelve cards fill each of these numbers of columns evenly. */
const COLUMN_CHOICES = [2, 3, 4, 6];
/** Words need so many lines of the page's letters, and use so many where there is room; in a single column, lines are longer. */
const WORDS_EM = { least: 9.5, most: 16, alone: 9.5 };
/** A picture may be so much less high than wide, where the whole page is then seen at once. */
const FLATTEST_PICTURE = 0.62;
/** So many cards are painted whether they can be seen or not. */
const ALWAYS_PAINTED = 48;
/** Whoever scrolls by more than so many screens at once wants neither the items nor their pictures. */
const RUSH_SCREENS = 3;
/** Milliseconds after which scrolling has come to rest, and after which something was looked at. */
const REST_MS = 90;
const DWELL_MS = 250;

/**
 * @typedef {object} Space
 * @property {number} count how many items a page has
 * @property {number} width of the grid
 * @property {number} screenHeight
 * @property {number} gap between cards
 * @property {number} fontSize
 * @property {boolean} textOnly whether the cards hold text only
 * @property {number} cardExtra what a card needs beside its face, with the gap
 * @property {boolean} bar whether there is a bar below
 */

/**
 * As few columns as let the whole page be seen at once, so that pictures are large, and otherwise as
 * many as leave them large enough.
 *
 * @param {Space} space
 * @returns {{columns: number, rowHeight: number}} rowHeight: of a card with the gap
 */
export function gridLayout({ count, width, screenHeight, gap, fontSize, textOnly, cardExtra, bar }) {
  const available = screenHeight - HEADER_PX - (bar ? BAR_PX : 0);
  const cardWidth = (/** @type {number} */ columns) => (width - gap * (columns - 1)) / columns;
  const fullHeight = (/** @type {number} */ columns) =>
    Math.round(
      (textOnly ? fontSize * (columns === 1 ? WORDS_EM.alone : WORDS_EM.most) : cardWidth(columns)) +
        cardExtra,
    );
  const leastHeight = (/** @type {number} */ columns) =>
    (textOnly ? fontSize * WORDS_EM.least : cardWidth(columns) * FLATTEST_PICTURE) + cardExtra;
  const choices = COLUMN_CHOICES.filter((columns) => cardWidth(columns) >= fontSize * (textOnly ? 13 : 9.5));
  for (const columns of choices) {
    const share = Math.floor(available / Math.ceil(count / columns));
    if (share >= leastHeight(columns)) return { columns, rowHeight: Math.min(share, fullHeight(columns)) };
  }
  const columns = choices.at(-1) ?? (textOnly ? 1 : 2);
  return {
    columns,
    rowHeight: textOnly && columns > 1 ? Math.round(leastHeight(columns)) : fullHeight(columns),
  };
}

/**
 * Which places of a long list are painted: those on screen, and a screen's height beyond.
 *
 * @param {{count: number, columns: number, rowHeight: number, top: number, screenHeight: number}} list top: where it begins on screen
 * @returns {[from: number, to: number]}
 */
export function paintedRange({ count, columns, rowHeight, top, screenHeight }) {
  const rows = Math.ceil(count / columns);
  const first = Math.max(0, Math.min(Math.floor((-top - screenHeight) / rowHeight), rows - 1));
  const last = Math.max(first + 1, Math.ceil((2 * screenHeight - top) / rowHeight));
  return [first * columns, Math.min(count, last * columns)];
}

/** What of the grid is on screen, and what has been: a click is understood among what was seen. */
export class Viewport {
  /** What was looked at since this ranking came, and its place. @type {Map<string, number>} */
  #viewed = new Map();
  #timer = 0;
  #cards;
  #hasBar;

  /**
   * @param {() => Iterable<Card>} cards those that are painted now
   * @param {() => boolean} hasBar whether a bar lies over the lower edge
   */
  constructor(cards, hasBar) {
    this.#cards = cards;
    this.#hasBar = hasBar;
  }

  /** Begin with another ranking, of which nothing has been seen. */
  reset() {
    this.#viewed.clear();
    this.look();
  }

  /** Note what is on screen, once it stands still. */
  look() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      for (const card of this.#visibleCards()) this.#viewed.set(card.item.id, indexOf(card));
    }, DWELL_MS);
  }

  close() {
    clearTimeout(this.#timer);
  }

  /**
   * Among which items one was clicked: those on screen now, and those of the same page's length
   * around it at which the person has stopped to look since this ranking came.
   *
   * @param {string} item
   * @param {Card | undefined} card its card, if there is one
   * @param {number} pageSize
   */
  itemsAround(item, card, pageSize) {
    const index = card ? indexOf(card) : NaN;
    const viewed = [...this.#viewed]
      .filter(([, other]) => Math.abs(other - index) < pageSize)
      .map(([id]) => id);
    return [...new Set([item, ...this.#visibleCards().map((visible) => visible.item.id), ...viewed])];
  }

  /** The cards of which at least a third is on screen. */
  #visibleCards() {
    const bottom = innerHeight - (this.#hasBar() ? BAR_PX : 0);
    return [...this.#cards()].filter(({ element }) => {
      const box = element.getBoundingClientRect();
      return Math.min(box.bottom, bottom) - Math.max(box.top, 0) > box.height / 3;
    });
  }
}

/** @param {Card} card @returns {number} its place in the ranking, from 0 */
const indexOf = ({ element }) => Number(element.dataset.index);

export class Grid {
  /** By item. @type {Map<string, Card>} */
  #cards = new Map();
  /** @type {Ranking | null} */
  #ranking = null;
  /** How many places of the ranking may be scrolled through. */
  #limit = 0;
  #columns = 2;
  #rowHeight = 200;
  #cardWidth = 0;
  #firstPainted = 0;
  #frame = 0;
  #restTimer = 0;
  #lastTop = 0;
  #hasBar = false;
  #viewport = new Viewport(
    () => this.#cards.values(),
    () => this.#hasBar,
  );
  /** The place that shall have the focus once its item is there. @type {number | null} */
  #focusTarget = null;
  #handlers;
  #verdictOf;
  #formats;
  #resizeObserver = new ResizeObserver(() => this.#arrange());
  /** The row of a site's own buttons, how high it was at most, and at which width of the grid. */
  #actions = { row: /** @type {Element | null} */ (null), height: 0, width: 0 };
  #onScroll = () => {
    this.#viewport.look();
    this.#schedulePaint();
  };
  #onResize = () => this.#arrange();

  /**
   * @param {CardHandlers} handlers
   * @param {(item: string) => "like" | "dislike" | null} verdictOf
   * @param {() => Formats} formats how attributes are shown
   */
  constructor(handlers, verdictOf, formats) {
    this.#formats = formats;
    this.#handlers = handlers;
    this.#verdictOf = verdictOf;
    this.list = element("ul", {
      className: "grid",
      part: "grid",
      role: "list",
      "aria-label": say("card.items"),
    });
    this.stage = element("div", { className: "stage" }, this.list);
  }

  connect() {
    this.#resizeObserver.observe(this.stage);
    // Captured, so that it is heard whichever part of a site scrolls.
    document.addEventListener("scroll", this.#onScroll, { capture: true, passive: true });
    addEventListener("resize", this.#onResize);
  }

  disconnect() {
    this.#resizeObserver.disconnect();
    document.removeEventListener("scroll", this.#onScroll, { capture: true });
    removeEventListener("resize", this.#onResize);
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#restTimer);
    this.#viewport.close();
  }

  /** How many places can be scrolled through. */
  get #count() {
    return Math.min(this.#limit, this.#ranking?.end ?? this.#limit);
  }

  /** Show empty cards until there is something to show. @param {number} count */
  showSkeletons(count) {
    this.#ranking = null;
    this.#cards.clear();
    this.#limit = count;
    this.#measure();
    this.#pad(0, count);
    this.list.replaceChildren(...Array.from({ length: count }, createSkeleton));
    this.#handlers.slots.sweep();
  }

  /**
   * Show a ranking, with motion from what was there before.
   *
   * @param {Ranking} ranking
   * @param {number} limit how many of its places can be scrolled through
   */
  show(ranking, limit) {
    const focus = this.#focus();
    const before = measurePositions(this.#elements());
    this.#ranking = ranking;
    this.#limit = limit;
    this.#focusTarget = null;
    this.#viewport.reset();
    // However far somebody had scrolled, they have not rushed past a page that is new.
    this.#lastTop = this.stage.getBoundingClientRect().top;
    this.#arrange();
    animateChanges(before, this.#elements(), this.stage);
    if (focus) this.#restoreFocus(focus);
  }

  /** Let more places be scrolled through. @param {number} limit */
  expand(limit) {
    this.#limit = limit;
    this.#paint();
  }

  /** Show items that have arrived, and verdicts that have changed. */
  update() {
    if (this.#ranking) this.#paint();
  }

  /** Among which items one was clicked. @param {string} item */
  itemsAround(item) {
    return this.#viewport.itemsAround(item, this.#cards.get(item), this.#ranking?.pageSize ?? 0);
  }

  /** @param {string} item @returns {HTMLElement | null} */
  cardElement(item) {
    return this.#cards.get(item)?.element ?? null;
  }

  /** The item whose card has the focus. */
  get focusedItem() {
    return this.#focus()?.card.item ?? null;
  }

  /** Give the focus to a place, as soon as its item has arrived. @param {number} index */
  focusWhenLoaded(index) {
    this.#focusTarget = index;
    this.#paint();
  }

  /** Move the focus to a card beside the one that has it. @param {"left" | "right" | "up" | "down"} direction */
  moveFocus(direction) {
    const forward = getComputedStyle(this.list).direction === "rtl" ? -1 : 1;
    const offset = { left: -forward, right: forward, up: -this.#columns, down: this.#columns }[direction];
    const focus = this.#focus();
    const index = focus ? focus.index + offset : this.#firstPainted;
    if (index < 0 || index >= this.#count) return;
    const item = this.#ranking?.at(index);
    const card = item && this.#cards.get(item.id);
    if (!card) return;
    const control = findControl(card.element, focus?.control ?? "open") ?? findControl(card.element, "open");
    control?.focus({ preventScroll: true });
    card.element.scrollIntoView({ block: "nearest" });
  }

  /** @returns {[string, HTMLElement][]} */
  #elements() {
    return [...this.#cards].map(([id, card]) => [id, card.element]);
  }

  #focus() {
    const active = rootOf(this.list).activeElement;
    const entry = active?.closest("li");
    const card = entry && this.#cards.get(entry.dataset.id ?? "");
    if (!card || !(active instanceof HTMLElement)) return null;
    return { card, index: indexOf(card), control: active.dataset.control ?? "open" };
  }

  /** @param {{card: Card, index: number, control: string}} focus */
  #restoreFocus({ card, index, control }) {
    const same = this.#cards.get(card.item.id);
    const item = this.#ranking?.at(Math.min(index, this.#count - 1));
    const next = same ?? (item && this.#cards.get(item.id));
    if (next) findControl(next.element, control)?.focus({ preventScroll: true });
  }

  #schedulePaint() {
    if (this.#frame || !this.#ranking || this.#count <= this.#ranking.pageSize) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#paint();
    });
  }

  #measure() {
    const width = this.stage.clientWidth;
    if (!width) return;
    const textOnly = this.#ranking ? !this.#ranking.at(0)?.media : this.list.classList.contains("wordy");
    this.list.classList.toggle("wordy", textOnly);
    const style = getComputedStyle(this.list);
    const fontSize = parseFloat(style.fontSize);
    const gap = parseFloat(style.columnGap) || 0;
    const count = this.#ranking?.pageSize ?? this.#limit;
    const actions = this.#actionsHeight(width);
    this.list.style.setProperty("--own-actions", `${actions}px`);
    const cardExtra = Math.round(fontSize * (this.stage.closest(".plain") ? 5.5 : 3) + actions + gap);
    this.#hasBar = !this.stage.closest('[data-size="wide"], .plain');
    const layout = gridLayout({
      count,
      width,
      screenHeight: innerHeight,
      gap,
      fontSize,
      textOnly,
      cardExtra,
      bar: this.#hasBar,
    });
    this.#columns = layout.columns;
    this.#rowHeight = layout.rowHeight;
    this.#setCardWidth(Math.round((width - gap * (layout.columns - 1)) / layout.columns));
    this.list.classList.toggle("slim", width / this.#columns < fontSize * (textOnly ? 20 : 13));
    this.list.style.gridTemplateColumns = `repeat(${this.#columns}, minmax(0, 1fr))`;
    this.list.style.gridAutoRows = `${this.#rowHeight - gap}px`;
  }

  /** How high a site's own buttons are. At one width it only grows, or fewer columns and lower rows would follow each other for ever. @param {number} width */
  #actionsHeight(width) {
    const { row, height, width: before } = this.#actions;
    const least = row && width === before ? height : 0;
    Object.assign(this.#actions, { height: Math.max(least, row?.clientHeight ?? 0), width });
    return this.#actions.height;
  }

  /** Make room again when a site's own buttons get their size, which is late: with its stylesheet or font. */
  #watchActions() {
    const row = this.list.querySelector(".own-actions");
    if (row === this.#actions.row) return;
    if (this.#actions.row) this.#resizeObserver.unobserve(this.#actions.row);
    if (row) this.#resizeObserver.observe(row);
    this.#actions.row = row;
  }

  /** @param {number} width */
  #setCardWidth(width) {
    if (width === this.#cardWidth) return;
    this.#cardWidth = width;
    for (const card of this.#cards.values()) setPictureWidth(card, width);
  }

  #arrange() {
    this.#measure();
    if (this.#ranking) this.#paint();
  }

  /** Put the cards in place that can be seen, and a little beyond. */
  #paint() {
    const ranking = this.#ranking;
    if (!ranking) return;
    const { top } = this.stage.getBoundingClientRect();
    const [from, to] = this.#range(ranking, top);
    this.#firstPainted = from;
    const rushing = Math.abs(top - this.#lastTop) > RUSH_SCREENS * innerHeight;
    this.#lastTop = top;
    clearTimeout(this.#restTimer);
    if (rushing) this.#restTimer = setTimeout(() => this.#paint(), REST_MS);
    else ranking.load(from, to);
    /** @type {HTMLLIElement[]} */
    const children = [];
    const painted = new Set();
    for (let index = from; index < to; index += 1) {
      const item = ranking.at(index);
      const existing = item && this.#cards.get(item.id);
      if (!item || (rushing && !existing)) {
        children.push(createSkeleton());
        continue;
      }
      const card = existing ?? createCard(item, this.#handlers, this.#cardWidth);
      this.#cards.set(item.id, card);
      painted.add(item.id);
      setFormats(card, this.#formats());
      setVerdict(card, this.#verdictOf(item.id));
      card.element.dataset.index = String(index);
      card.element.setAttribute("aria-posinset", String(index + 1));
      card.element.setAttribute("aria-setsize", String(ranking.total));
      children.push(card.element);
    }
    for (const id of this.#cards.keys()) if (!painted.has(id)) this.#cards.delete(id);
    this.#pad(from, to);
    setChildren(this.list, children);
    this.#watchActions();
    this.#handlers.slots.sweep();
    const target = this.#focusTarget === null ? undefined : ranking.at(this.#focusTarget);
    const card = target && this.#cards.get(target.id);
    if (card) {
      this.#focusTarget = null;
      findControl(card.element, "open")?.focus({ preventScroll: true });
    }
  }

  /** @param {Ranking} ranking @param {number} top @returns {[number, number]} */
  #range(ranking, top) {
    const count = this.#count;
    if (count <= Math.max(ranking.pageSize, ALWAYS_PAINTED)) return [0, count];
    const { columns, rowHeight } = { columns: this.#columns, rowHeight: this.#rowHeight };
    return paintedRange({ count, columns, rowHeight, top, screenHeight: innerHeight });
  }

  /** Leave room for what is not painted. @param {number} from @param {number} to */
  #pad(from, to) {
    const rowsAbove = Math.floor(from / this.#columns);
    const rowsBelow = Math.ceil(this.#count / this.#columns) - Math.ceil(to / this.#columns);
    this.list.style.paddingTop = `${rowsAbove * this.#rowHeight}px`;
    this.list.style.paddingBottom = `${rowsBelow * this.#rowHeight}px`;
  }
}
