// What one element shows: the parts, and what they do to the search.

import { Actions } from "./actions.js";
import { Address } from "./address.js";
import { Chips } from "./chips.js";
import { Chooser } from "./chooser.js";
import { Detail } from "./detail.js";
import { element } from "./dom.js";
import { Filters } from "./filters.js";
import { Found } from "./found.js";
import { frame, plainFrame, sharedBanner, watchSize } from "./frame.js";
import { Grid } from "./grid.js";
import { helpDialog } from "./help.js";
import { listenForKeys, obey } from "./keys.js";
import { Listing } from "./listing.js";
import { Notices } from "./notices.js";
import { Panel } from "./panel.js";
import { Search } from "./search.js";
import { newPage } from "./sentences.js";
import { Sharing } from "./sharing.js";
import { State, stateOf } from "./state.js";
import { letSwipe } from "./swipe.js";
import * as verbs from "./verbs.js";
import { Whereabouts } from "./whereabouts.js";
import { Words } from "./words.js";

/** @import { Refusal } from "./asking.js" */
/** @import { Service } from "./service.js" */
/** @import { Command } from "./keys.js" */
/** @import { Filter, Item, Place } from "./types.js" */

const ELSEWHERE =
  "This search has gone on in another window. Here is where it stands; what you did last was not counted.";

/** What one element shows, from when it is put into a document until it is taken out. */
export class View {
  #host;
  #service;
  #plain;
  /** Whether searches are begun here: a site may name the one to show instead. */
  #own;
  #address;
  #catalog = "";
  #whereabouts;
  #leave = new AbortController();

  /** @param {HTMLElement} host @param {ShadowRoot} root @param {Service} service */
  constructor(host, root, service) {
    this.#host = host;
    this.#service = service;
    this.#plain = host.hasAttribute("plain");
    const search = (this.search = new Search(service, this.#plain));
    this.#own = !host.hasAttribute("session");
    this.#address = this.#own ? new Address((place) => this.#arrive(place)) : null;
    this.#whereabouts = new Whereabouts(this.#address);
    const act = (this.actions = new Actions(host, service, search, this.#address, this));
    const ways = {
      open: (/** @type {Item} */ item) => this.#open(item),
      found: (/** @type {Item} */ item) => act.found(item),
      judge: (/** @type {Item} */ item, /** @type {"like" | "dislike"} */ verdict) =>
        act.judge(item.id, verdict),
      explain: (/** @type {string} */ item) => service.explain(this.#place(), item),
    };
    const narrow = (/** @type {Filter | null} */ filter) => search.do(verbs.narrow(filter));
    const anew = () => act.begin({});
    const share = () => act.share();
    this.grid = new Grid(ways, (item) => search.verdict(item));
    this.listing = new Listing(
      this.grid,
      () => this.#explore(),
      () => search.reload(),
    );
    this.panel = new Panel(
      search,
      { clear: (item) => act.click(item, "clear"), travel: (by) => act.travel(by) },
      this.#plain,
    );
    this.notices = new Notices(() => search.retry());
    this.state = new State();
    this.words = new Words((text) => act.say(text));
    this.chips = new Chips((text) => search.do(verbs.unsay(text)), narrow);
    this.filters = new Filters(narrow);
    this.chooser = new Chooser((catalog) => act.begin({ catalog }));
    this.sharing = new Sharing();
    this.help = helpDialog();
    this.detail = new Detail(search, ways);
    this.found = new Found({
      again: anew,
      keepLooking: () => act.travel(-1),
      share,
      seconds: () => act.seconds(),
      open: (item) => this.detail.open(item, { verdicts: false, why: false }),
    });
    this.credit = element("p", { className: "credit soft", part: "credit" });
    this.shared = sharedBanner(() => act.fork());
    this.root = this.#plain
      ? plainFrame(this)
      : frame(this, { anew, share, help: () => this.help.showModal() });
    root.replaceChildren(this.root);
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

  #enter() {
    const session = this.#host.getAttribute("session");
    const place = this.#address?.read() ?? null;
    if (session) this.search.open({ kind: "session", id: session });
    else if (place) this.search.open(place);
    else this.actions.begin({}, false);
    if (!this.#plain && !this.#host.hasAttribute("catalog")) this.#offerCatalogs();
  }

  async #offerCatalogs() {
    const catalogs = await this.actions.unlessLeft(
      this.search.insist(() => this.#service.catalogs(), this.#leave.signal),
    );
    this.chooser.offer(catalogs ?? []);
    if (this.search.answer) this.chooser.show(this.search.answer.catalog);
  }

  /** @param {Place | null} place */
  #arrive(place) {
    if (!place) this.actions.begin({}, false);
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
    letSwipe(this.grid.list, (item, verdict) => this.actions.judge(item, verdict));
    listenForKeys(this.#host, signal, (command) => this.#obey(command));
    document.addEventListener("scroll", () => this.#whereabouts.note(search, this.listing.explored), {
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
    const waiting = phase === "loading" && (!answer || answer.id !== search.place?.id);
    const states = {
      readonly: search.readOnly,
      ended: Boolean(answer?.found),
      away: phase === "gone" || phase === "failed",
      waiting,
      begun: (answer?.step ?? 0) > 0,
    };
    for (const [state, on] of Object.entries(states)) this.root.classList.toggle(state, on);
    this.shared.hidden = !search.readOnly || phase !== "ready";
    if (waiting) this.grid.expect(Number(this.#host.getAttribute("page-size")) || 12);
    this.state.show(
      stateOf(search, this.#own || !this.#plain, {
        anew: () => this.actions.begin({}),
        again: () => this.#enter(),
      }),
    );
    const items = phase === "loading" || (phase === "ready" && (this.#plain || !answer?.found));
    this.listing.update(waiting ? null : answer, items);
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
      const page = await this.actions.unlessLeft(
        this.search.insist(() => this.#service.items(place, offset, limit)),
      );
      this.search.items.add(answer.catalog, page?.items ?? []);
      return page;
    };
    const kept = this.#whereabouts.recall(answer);
    this.listing.begin(answer, Boolean(kept?.open), fetch);
    if (kept) scrollTo(0, kept.top);
    else if (this.#host.getBoundingClientRect().top < 0) this.#host.scrollIntoView({ block: "start" });
    this.notices.whisper(newPage(answer));
    this.#about(answer.catalog);
    this.actions.tell("session", { session: answer });
  }

  /** @param {string} catalog */
  async #about(catalog) {
    this.chooser.show(catalog);
    if (this.#plain || this.#catalog === catalog) return;
    this.#catalog = catalog;
    const about = await this.actions.unlessLeft(
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

  #place() {
    const { place } = this.search;
    if (!place) throw new Error("No search is open.");
    return place;
  }

  /** @param {Item} item */
  #open(item) {
    this.detail.open(item, { verdicts: !this.search.readOnly, why: !this.#plain });
  }

  #explore() {
    this.listing.explore();
    this.#paint();
    this.#whereabouts.note(this.search, true);
  }

  /** @param {Command} command @returns {boolean} whether it meant something */
  #obey(command) {
    if (this.root.querySelector("dialog[open]")) return false;
    const { panel } = this;
    return obey(command, this.grid, {
      judge: (item, verdict) => this.actions.judge(item.id, verdict),
      undo: () => panel.undo.disabled || this.actions.travel(-1),
      redo: () => panel.redo.disabled || this.actions.travel(1),
      help: this.#plain ? null : () => this.help.showModal(),
      words: this.#plain ? null : () => this.words.input.focus(),
    });
  }
}
