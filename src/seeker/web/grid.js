// The grid: as many cards of a ranking as can be seen, be it twelve items or a hundred thousand.

import { control, judgeCard, makeCard, makeSkeleton } from "./card.js";
import { element, setChildren } from "./dom.js";
import { fit } from "./fit.js";
import { places, rearrange } from "./motion.js";
import { Sight } from "./sight.js";

/** @import { Card, Ways } from "./card.js" */
/** @import { Ranking } from "./ranking.js" */

/** Milliseconds after which scrolling has come to rest. */
const RESTS = 90;
/** So many cards are painted whether they can be seen or not. */
const FEW = 48;

export class Grid {
  /** By item. @type {Map<string, Card>} */
  #cards = new Map();
  /** @type {Ranking | null} */
  #ranking = null;
  #open = 0;
  #columns = 2;
  #row = 200;
  #first = 0;
  #frame = 0;
  #moving = 0;
  #lastTop = 0;
  #bar = false;
  #sight = new Sight(
    () => this.#cards.values(),
    () => this.#bar,
  );
  /** The place that shall have the focus once it is there. @type {number | null} */
  #awaited = null;
  #ways;
  #verdict;
  #watch = new ResizeObserver(() => this.#arrange());
  #scrolled = () => {
    this.#sight.look();
    this.#soon();
  };
  #resized = () => this.#arrange();

  /**
   * @param {Ways} ways
   * @param {(item: string) => "like" | "dislike" | null} verdict
   */
  constructor(ways, verdict) {
    this.#ways = ways;
    this.#verdict = verdict;
    this.list = element("ul", { className: "grid", part: "grid", role: "list", "aria-label": "Items" });
    this.stage = element("div", { className: "stage" }, this.list);
  }

  connect() {
    this.#watch.observe(this.stage);
    // Captured, so that it is heard whichever part of a site scrolls.
    document.addEventListener("scroll", this.#scrolled, { capture: true, passive: true });
    addEventListener("resize", this.#resized);
  }

  disconnect() {
    this.#watch.disconnect();
    document.removeEventListener("scroll", this.#scrolled, { capture: true });
    removeEventListener("resize", this.#resized);
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#moving);
    this.#sight.end();
  }

  /** How many places can be scrolled through. */
  get #count() {
    return Math.min(this.#open, this.#ranking?.end ?? this.#open);
  }

  /** Show empty cards until there is something to show. @param {number} count */
  expect(count) {
    this.#ranking = null;
    this.#cards.clear();
    this.#open = count;
    this.#measure();
    this.#pad(0, count);
    this.list.replaceChildren(...Array.from({ length: count }, makeSkeleton));
  }

  /**
   * Show a ranking, with motion from what was there before.
   *
   * @param {Ranking} ranking
   * @param {number} open how many of its places can be scrolled through
   */
  show(ranking, open) {
    const focus = this.#focused();
    const before = places([...this.#cards].map(([id, card]) => [id, card.element]));
    this.#ranking = ranking;
    this.#open = open;
    this.#awaited = null;
    this.#sight.begin();
    // However far somebody had scrolled, they have not rushed past a page that is new.
    this.#lastTop = this.stage.getBoundingClientRect().top;
    this.#arrange();
    rearrange(
      before,
      [...this.#cards].map(([id, card]) => [id, card.element]),
      this.stage,
    );
    if (focus) this.#refocus(focus);
  }

  /** Let more places be scrolled through. @param {number} open */
  widen(open) {
    this.#open = open;
    this.#paint();
  }

  /** Show items that have arrived, and verdicts that have changed. */
  update() {
    if (this.#ranking) this.#paint();
  }

  /** Among which items one was clicked. @param {string} clicked */
  seen(clicked) {
    return this.#sight.around(clicked, this.#cards.get(clicked), this.#ranking?.first ?? 0);
  }

  /** @param {string} item @returns {HTMLElement | null} */
  cardOf(item) {
    return this.#cards.get(item)?.element ?? null;
  }

  /** The item whose card has the focus. */
  get current() {
    return this.#focused()?.card.item ?? null;
  }

  /** Give the focus to a place, as soon as its item has arrived. @param {number} place */
  focusWhenThere(place) {
    this.#awaited = place;
    this.#paint();
  }

  /** Move the focus to a card beside the one that has it. @param {"left" | "right" | "up" | "down"} way */
  move(way) {
    const onward = getComputedStyle(this.list).direction === "rtl" ? -1 : 1;
    const by = { left: -onward, right: onward, up: -this.#columns, down: this.#columns }[way];
    const focus = this.#focused();
    const place = focus ? focus.place + by : this.#first;
    if (place < 0 || place >= this.#count) return;
    const item = this.#ranking?.at(place);
    const card = item && this.#cards.get(item.id);
    if (!card) return;
    const target = control(card.element, focus?.name ?? "open") ?? control(card.element, "open");
    target?.focus({ preventScroll: true });
    card.element.scrollIntoView({ block: "nearest" });
  }

  #focused() {
    const root = /** @type {ShadowRoot | Document} */ (this.list.getRootNode());
    const active = root.activeElement;
    const shell = active?.closest("li");
    const card = shell && this.#cards.get(shell.dataset.id ?? "");
    if (!card || !(active instanceof HTMLElement)) return null;
    return { card, place: Number(shell.dataset.place), name: active.dataset.control ?? "open" };
  }

  /** @param {{card: Card, place: number, name: string}} focus */
  #refocus({ card, place, name }) {
    const stays = this.#cards.get(card.item.id);
    const item = this.#ranking?.at(Math.min(place, this.#count - 1));
    const next = stays ?? (item && this.#cards.get(item.id));
    if (next) control(next.element, name)?.focus({ preventScroll: true });
  }

  #soon() {
    if (this.#frame || !this.#ranking || this.#count <= this.#ranking.first) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#paint();
    });
  }

  #measure() {
    const width = this.stage.clientWidth;
    if (!width) return;
    const wordy = this.#ranking ? !this.#ranking.at(0)?.media : this.list.classList.contains("wordy");
    this.list.classList.toggle("wordy", wordy);
    const look = getComputedStyle(this.list);
    const letter = parseFloat(look.fontSize);
    const gap = parseFloat(look.columnGap) || 0;
    const count = this.#ranking?.first ?? this.#open;
    const around = Math.round(letter * (this.stage.closest(".plain") ? 5.5 : 3) + gap);
    this.#bar = !this.stage.closest('[data-size="wide"], .plain');
    const { columns, row } = fit({ count, width, gap, letter, wordy, around, bar: this.#bar });
    this.#columns = columns;
    this.list.classList.toggle("slim", width / columns < letter * (wordy ? 20 : 13));
    this.#row = row;
    this.list.style.gridTemplateColumns = `repeat(${this.#columns}, minmax(0, 1fr))`;
    this.list.style.gridAutoRows = `${this.#row - gap}px`;
  }

  #arrange() {
    this.#measure();
    if (this.#ranking) this.#paint();
  }

  /** Put the cards in place that can be seen, and a little beyond. */
  #paint() {
    const ranking = this.#ranking;
    if (!ranking) return;
    const [from, to] = this.#window(ranking);
    this.#first = from;
    const top = this.stage.getBoundingClientRect().top;
    const rushing = Math.abs(top - this.#lastTop) > 3 * innerHeight;
    this.#lastTop = top;
    clearTimeout(this.#moving);
    // Whoever rushes past wants neither the items nor their pictures.
    if (rushing) this.#moving = setTimeout(() => this.#paint(), RESTS);
    else ranking.want(from, to);
    /** @type {HTMLLIElement[]} */
    const wanted = [];
    const kept = new Set();
    for (let place = from; place < to; place += 1) {
      const item = ranking.at(place);
      const known = item && this.#cards.get(item.id);
      if (!item || (rushing && !known)) {
        wanted.push(makeSkeleton());
        continue;
      }
      const card = known ?? makeCard(item, this.#ways);
      this.#cards.set(item.id, card);
      kept.add(item.id);
      judgeCard(card, this.#verdict(item.id));
      card.element.dataset.place = String(place);
      card.element.setAttribute("aria-posinset", String(place + 1));
      card.element.setAttribute("aria-setsize", String(ranking.total));
      wanted.push(card.element);
    }
    for (const id of this.#cards.keys()) if (!kept.has(id)) this.#cards.delete(id);
    this.#pad(from, to);
    setChildren(this.list, wanted);
    const awaited = this.#awaited === null ? undefined : ranking.at(this.#awaited);
    const card = awaited && this.#cards.get(awaited.id);
    if (card) {
      this.#awaited = null;
      control(card.element, "open")?.focus({ preventScroll: true });
    }
  }

  /** @param {Ranking} ranking @returns {[number, number]} */
  #window(ranking) {
    if (this.#count <= Math.max(ranking.first, FEW)) return [0, this.#count];
    const { top } = this.stage.getBoundingClientRect();
    const beyond = innerHeight;
    const rows = Math.ceil(this.#count / this.#columns);
    const first = Math.max(0, Math.min(Math.floor((-top - beyond) / this.#row), rows - 1));
    const last = Math.max(first + 1, Math.ceil((innerHeight - top + beyond) / this.#row));
    return [first * this.#columns, Math.min(this.#count, last * this.#columns)];
  }

  /** Leave room for what is not painted. @param {number} from @param {number} to */
  #pad(from, to) {
    const above = Math.floor(from / this.#columns);
    const below = Math.ceil(this.#count / this.#columns) - Math.ceil(to / this.#columns);
    this.list.style.paddingTop = `${above * this.#row}px`;
    this.list.style.paddingBottom = `${below * this.#row}px`;
  }
}
