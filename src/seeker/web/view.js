// What one element shows: the parts, and what they do to the search.

import { Address, addressOf } from "./address.js";
import { Chooser } from "./chooser.js";
import { Detail } from "./detail.js";
import { button, element } from "./dom.js";
import { Filters } from "./filters.js";
import { Found } from "./found.js";
import { frame, plainFrame, sharedBanner, watchSize } from "./frame.js";
import { Grid } from "./grid.js";
import { helpDialog, listenForKeys, obey } from "./keys.js";
import { beat } from "./motion.js";
import { Notices } from "./notices.js";
import { Panel } from "./panel.js";
import { Ranking } from "./ranking.js";
import { Search } from "./search.js";
import { number } from "./sentences.js";
import { Sharing } from "./sharing.js";
import { State, exhausted, stateOf } from "./state.js";
import { letSwipe } from "./swipe.js";
import { Whereabouts } from "./whereabouts.js";
import { Chips, Words } from "./words.js";

/** @import { Refusal, Service } from "./service.js" */
/** @import { Command } from "./keys.js" */
/** @import { Item, Place, Verdict, Wish } from "./types.js" */

const ELSEWHERE =
  "This search has gone on in another window. Here is where it stands; your last click was not counted.";

/** What one element shows, from when it is put into a document until it is taken out. */
export class View {
  #host;
  #service;
  #plain;
  #address;
  #explored = false;
  /** @type {Ranking | null} */
  #ranking = null;
  #catalog = "";
  #whereabouts;
  #leave = new AbortController();

  /** @param {HTMLElement} host @param {ShadowRoot} root @param {Service} service */
  constructor(host, root, service) {
    this.#host = host;
    this.#service = service;
    this.#plain = host.hasAttribute("plain");
    this.search = new Search(service, this.#plain);
    const judge = (/** @type {Item} */ item, /** @type {"like" | "dislike"} */ verdict) =>
      this.#judge(item.id, verdict);
    const found = (/** @type {Item} */ item) =>
      this.search.found(item.id, (session) =>
        this.#tell("found", { session, item: item.id, title: item.title }),
      );
    const open = (/** @type {Item} */ item) =>
      this.detail.open(item, { verdicts: !this.search.readOnly, why: !this.#plain });
    this.grid = new Grid({ open, why: open, found, judge }, (item) => this.search.verdict(item));
    this.panel = new Panel(
      this.search,
      { clear: (item) => this.#click(item, "clear"), travel: (by) => this.#travel(by) },
      this.#plain,
    );
    this.notices = new Notices(() => this.search.retry());
    this.state = new State();
    this.words = new Words((text) => this.#said(text));
    const narrow = (/** @type {Record<string, unknown> | null} */ filter) => this.search.narrow(filter);
    this.chips = new Chips((text) => this.search.unsay(text), narrow);
    this.filters = new Filters(narrow);
    this.chooser = new Chooser((catalog) => this.begin({ catalog }));
    this.sharing = new Sharing();
    this.help = helpDialog();
    this.detail = new Detail(this.search, {
      judge,
      found,
      explain: (item) => service.explain(this.#place(), item),
      address: (item) => service.address(item, this.#catalog),
    });
    this.found = new Found({
      again: () => this.begin({}),
      keepLooking: () => this.search.undo(),
      share: () => this.#share(),
      seconds: () => this.#seconds(),
      address: (item, catalog) => service.address(item, catalog),
    });
    this.explore = button("Explore more", () => this.#explore(), {
      text: "Explore more",
      className: "explore",
    });
    this.end = element("p", { className: "end soft", hidden: true });
    this.credit = element("p", { className: "credit soft", part: "credit" });
    this.shared = sharedBanner(() => this.#fork());
    const links = {
      anew: () => this.begin({}),
      share: () => this.#share(),
      help: () => this.help.showModal(),
    };
    this.root = this.#plain ? plainFrame(this) : frame(this, links);
    root.replaceChildren(this.root);
    this.#address =
      this.#plain || host.hasAttribute("session") ? null : new Address((place) => this.#arrive(place));
    this.#whereabouts = new Whereabouts(this.#address);
    this.#listen();
    this.#enter();
  }

  close() {
    this.#leave.abort();
    this.#address?.close();
    this.notices.close();
    this.search.close();
    this.grid.disconnect();
    this.#whereabouts.close();
  }

  /** Start a new search. @param {Wish} wish */
  async begin(wish, push = true) {
    const catalog = wish.catalog ?? this.#host.getAttribute("catalog") ?? this.search.answer?.catalog;
    const size = Number(this.#host.getAttribute("page-size"));
    const answer = await this.search.start({
      ...wish,
      ...(catalog ? { catalog } : {}),
      ...(size > 0 ? { page_size: size } : {}),
    });
    if (answer) this.#address?.write({ kind: "session", id: answer.id }, push);
  }

  #enter() {
    const session = this.#host.getAttribute("session");
    const place = this.#address?.read() ?? null;
    if (session) this.search.open({ kind: "session", id: session });
    else if (place) this.search.open(place);
    else if (!this.#plain) this.begin({}, false);
    if (!this.#plain && !this.#host.hasAttribute("catalog")) this.#offerCatalogs();
  }

  async #offerCatalogs() {
    const catalogs = await this.#unlessLeft(
      this.search.insist(() => this.#service.catalogs(), this.#leave.signal),
    );
    this.chooser.offer(catalogs ?? []);
    if (this.search.answer) this.chooser.show(this.search.answer.catalog);
  }

  /** @param {Place | null} place */
  #arrive(place) {
    if (!place) this.begin({}, false);
    else if (place.id !== this.search.place?.id || this.search.phase !== "ready") this.search.open(place);
  }

  #listen() {
    const { signal } = this.#leave;
    const { search } = this;
    search.addEventListener("change", () => this.#paint(), { signal });
    search.addEventListener("answer", () => this.#answered(), { signal });
    search.addEventListener(
      "refused",
      (event) => this.#refused(/** @type {CustomEvent<Refusal>} */ (event).detail),
      { signal },
    );
    this.grid.connect();
    letSwipe(this.grid.list, (item, verdict) => this.#judge(item, verdict));
    listenForKeys(this.#host, signal, (command) => this.#obey(command));
    document.addEventListener("scroll", () => this.#whereabouts.note(search, this.#explored), {
      signal,
      passive: true,
    });
    watchSize(this.root, signal);
  }

  /** Everything but the grid, which is painted when there is a new answer. */
  #paint() {
    const { search } = this;
    const { answer, phase } = search;
    this.notices.show(search);
    this.grid.list.setAttribute("aria-busy", String(search.busy));
    this.root.classList.toggle("readonly", search.readOnly);
    this.root.classList.toggle("ended", Boolean(answer?.found));
    this.root.classList.toggle("away", phase === "gone" || phase === "failed");
    const waiting = phase === "loading" && (!answer || answer.id !== search.place?.id);
    this.root.classList.toggle("waiting", waiting);
    this.root.classList.toggle("begun", (answer?.step ?? 0) > 0);
    this.shared.hidden = !search.readOnly || phase !== "ready";
    if (waiting) this.grid.expect(Number(this.#host.getAttribute("page-size")) || 12);
    this.state.show(stateOf(search, this.#plain, { anew: () => this.begin({}), again: () => this.#enter() }));
    const items = phase === "loading" || (phase === "ready" && (this.#plain || !answer?.found));
    this.grid.stage.hidden = !items;
    this.explore.hidden =
      this.#plain ||
      !items ||
      this.#explored ||
      !answer ||
      exhausted(answer) ||
      answer.page.items.length >= answer.page.total;
    this.end.hidden = !items || !this.#explored || exhausted(answer);
    if (phase !== "ready" || !answer) return;
    this.grid.update();
    this.panel.show();
    if (this.#plain) return;
    this.found.show(search);
    this.words.show(search);
    this.chips.show(search);
    this.filters.show(search);
  }

  #answered() {
    const { answer } = this.search;
    if (!answer) return;
    const place = this.#place();
    const fetch = async (/** @type {number} */ offset, /** @type {number} */ limit) => {
      const page = await this.#unlessLeft(
        this.search.insist(() => this.#service.items(place, offset, limit)),
      );
      this.search.items.add(page?.items ?? []);
      return page;
    };
    const ranking = new Ranking(answer.page, fetch, (problem) => {
      if (ranking !== this.#ranking) return;
      if (problem === "moved") this.search.reload();
      else this.grid.update();
    });
    this.#ranking = ranking;
    const kept = this.#whereabouts.recall(answer);
    this.#explored = Boolean(kept?.open);
    this.grid.show(ranking, exhausted(answer) ? 0 : this.#explored ? ranking.total : ranking.first);
    this.end.textContent = `That is all there is: ${number(answer.page.total)} items.`;
    if (kept) scrollTo(0, kept.top);
    else if (this.#host.getBoundingClientRect().top < 0) this.#host.scrollIntoView({ block: "start" });
    this.notices.whisper(answer.step ? `New page of ${answer.page.items.length} items.` : "");
    this.#about(answer.catalog);
    this.#tell("session", { session: answer });
  }

  /** @param {string} catalog */
  async #about(catalog) {
    this.chooser.show(catalog);
    if (this.#plain || this.#catalog === catalog) return;
    this.#catalog = catalog;
    const about = await this.#unlessLeft(
      this.search.insist(() => this.#service.catalog(catalog), this.#leave.signal),
    );
    if (!about || catalog !== this.#catalog) return;
    this.filters.offer(about.facets);
    this.credit.textContent = String(about.about.attribution ?? "");
  }

  /** @param {Refusal} refusal */
  #refused(refusal) {
    const moved = refusal.session && !this.#plain;
    this.notices.say(moved ? ELSEWHERE : refusal.message);
  }

  /** @param {string} item @param {"like" | "dislike"} verdict */
  #judge(item, verdict) {
    this.#click(item, this.search.verdict(item) === verdict ? "clear" : verdict);
  }

  /** @param {string} item @param {Verdict} verdict */
  #click(item, verdict) {
    if (this.search.readOnly) return;
    this.notices.say("");
    const card = this.grid.cardOf(item);
    const face = card?.querySelector(".face");
    if (face && verdict !== "clear") {
      this.panel.trays.from(item, face.getBoundingClientRect());
      beat(this.panel.more);
    }
    this.search.click(item, verdict, this.grid.seen(item), (session) =>
      this.#tell("click", { session, item, verdict }),
    );
  }

  /** @param {number} by */
  #travel(by) {
    if (by < 0) this.search.undo(-by);
    else this.search.redo(by);
  }

  /** Words begin a search, or go into the one under way. @param {string} text */
  #said(text) {
    const { answer } = this.search;
    if (!answer) return;
    const fresh = answer.history.length === 0 && !answer.query;
    if (fresh) this.begin({ query: text, ...(answer.filter ? { filter: answer.filter } : {}) });
    else this.search.say(text);
  }

  #explore() {
    if (!this.#ranking) return;
    const next = this.#ranking.first;
    this.#explored = true;
    this.grid.widen(this.#ranking.total);
    this.#paint();
    this.#whereabouts.note(this.search, true);
    // The button that had the focus is gone: go on where the new items begin.
    this.grid.focusWhenThere(next);
  }

  async #share() {
    const place = this.#place();
    const share = this.search.readOnly ? place.id : await this.#unlessLeft(this.#service.share(place));
    if (share) this.sharing.open(addressOf({ kind: "shared", id: share }));
  }

  async #seconds() {
    if (this.search.readOnly) return null;
    try {
      const { began, active } = await this.#service.times(this.#place());
      return active - began;
    } catch {
      // The summary does without the time.
      return null;
    }
  }

  async #fork() {
    const answer = await this.search.fork();
    if (answer) this.#address?.write({ kind: "session", id: answer.id }, true);
  }

  #place() {
    const { place } = this.search;
    if (!place) throw new Error("No search is open.");
    return place;
  }

  /** @param {Command} command @returns {boolean} whether it meant something */
  #obey(command) {
    if (this.root.querySelector("dialog[open]")) return false;
    const { panel } = this;
    return obey(command, this.grid, {
      judge: (item, verdict) => this.#judge(item.id, verdict),
      undo: () => panel.undo.disabled || this.search.undo(),
      redo: () => panel.redo.disabled || this.search.redo(),
      help: this.#plain ? null : () => this.help.showModal(),
      words: this.#plain ? null : () => this.words.input.focus(),
    });
  }

  /** @param {"session" | "click" | "found"} name @param {object} detail */
  #tell(name, detail) {
    this.#host.dispatchEvent(new CustomEvent(`seeker:${name}`, { bubbles: true, composed: true, detail }));
  }

  /**
   * Wait for something; nothing comes if the search is left meanwhile, or if it is refused, which is said.
   *
   * @template Answer
   * @param {Promise<Answer>} asked
   * @returns {Promise<Answer | null>}
   */
  async #unlessLeft(asked) {
    try {
      return await asked;
    } catch (problem) {
      if (!(problem instanceof DOMException && problem.name === "AbortError"))
        this.notices.say(messageOf(problem));
      return null;
    }
  }
}

/** @param {unknown} problem */
function messageOf(problem) {
  return problem instanceof Error ? problem.message : String(problem);
}
