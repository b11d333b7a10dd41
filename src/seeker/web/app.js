// What one element shows: its components, where they stand, and what they do to the search.

import { Actions, addressOptions } from "./actions.js";
import { ITEM_GONE } from "./api.js";
import { setFilter, unsay } from "./commands.js";
import { Detail } from "./components/detail.js";
import { ShareDialog, createHelpDialog } from "./components/dialogs.js";
import { Chips, Filters } from "./components/filters.js";
import { Grid } from "./components/grid.js";
import { Panel } from "./components/panel.js";
import { RankingView } from "./components/ranking.js";
import { Result } from "./components/result.js";
import { CardSlots } from "./components/slots.js";
import { CatalogSelect, PicturePicker, SearchBox } from "./components/searchbox.js";
import { EmptyState, Notices, emptyReason } from "./components/status.js";
import { element, icon, textButton } from "./dom.js";
import { enableSwipe, listenForPictures, listenForShortcuts, runShortcut } from "./input.js";
import { Router, ScrollPosition } from "./router.js";
import { SearchStore } from "./store.js";
import { language, say } from "./strings.js";

/** @import { ApiClient, RefusedError } from "./api.js" */
/** @import { Command } from "./commands.js" */
/** @import { Shortcut } from "./input.js" */
/** @import { Filter, Formats, Item, Session, SessionRef } from "./types.js" */

const USUAL_PAGE_SIZE = 12;
/** From these widths on there is room for more, in letters: larger letters need more room. */
const WIDE_EM = 62.5;
const MEDIUM_EM = 37.5;

/** What one element shows, from when it is put into a document until it is taken out. */
export class App {
  #host;
  #api;
  #plain;
  /** Whether searches are begun here: a site may name the one to show instead. */
  #startsSearches;
  #initialRef;
  #router;
  #catalog = "";
  #scrollPosition;
  #abort = new AbortController();

  /** @param {HTMLElement} host @param {ShadowRoot} root @param {ApiClient} api @param {SessionRef | null} [ref] what is open already, where the address of the document is not to tell */
  constructor(host, root, api, ref = null) {
    this.#host = host;
    this.#api = api;
    this.#initialRef = ref;
    this.#plain = host.hasAttribute("plain");
    const store = (this.store = new SearchStore(api, this.#plain));
    this.#startsSearches = !host.hasAttribute("session");
    this.#router = this.#startsSearches && !ref ? new Router((to) => this.#navigate(to)) : null;
    this.#scrollPosition = new ScrollPosition(this.#router);
    const actions = (this.actions = new Actions(host, api, store, this.#router, this));
    this.slots = new CardSlots(host, this.#abort.signal, (action, item) =>
      actions.emit("action", { session: store.session, action, item: item.id, title: item.title }),
    );
    const itemHandlers = {
      open: (/** @type {Item} */ item) => this.#openItem(item),
      finish: (/** @type {Item} */ item) => actions.finish(item.id),
      rate: (/** @type {Item} */ item, /** @type {"like" | "dislike"} */ verdict) =>
        actions.rate(item.id, verdict),
      similar:
        this.#plain || !this.#startsSearches ? null : (/** @type {Item} */ item) => actions.moreLike(item),
      explain: (/** @type {string} */ item) => api.explain(this.#ref(), item),
      slots: this.slots,
    };
    const onFilter = (/** @type {Filter | null} */ filter) => store.dispatch(setFilter(filter));
    this.grid = new Grid(
      itemHandlers,
      (item) => store.verdict(item),
      () => store.formats,
    );
    this.rankingView = new RankingView(
      this.grid,
      () => this.#expandRanking(),
      () => store.reload(),
    );
    this.panel = new Panel(
      store,
      { clear: (item) => actions.click(item, "clear"), travel: (steps) => actions.travel(steps) },
      this.#plain,
    );
    this.notices = new Notices(() => store.retry());
    this.emptyState = new EmptyState();
    this.searchBox = new SearchBox((text) => actions.say(text));
    this.picturePicker = new PicturePicker((picture) => actions.likeExample(picture));
    this.chips = new Chips((text) => store.dispatch(unsay(text)), onFilter);
    this.filters = new Filters(onFilter);
    this.catalogSelect = new CatalogSelect((catalog) => actions.start({ catalog }));
    this.shareDialog = new ShareDialog();
    this.helpDialog = createHelpDialog();
    this.detail = new Detail(store, itemHandlers);
    this.result = new Result({
      restart: () => actions.start({}),
      keepLooking: () => actions.travel(-1),
      share: () => actions.share(),
      seconds: () => actions.seconds(),
      open: (item) => this.detail.open(item, { verdicts: false, reasons: false }),
    });
    this.credit = element("p", { className: "credit soft", part: "credit" });
    this.sharedBanner = createSharedBanner(() => actions.fork());
    this.root = this.#plain ? plainLayout(this) : fullLayout(this);
    const { lang, dir } = language();
    // A site may run from right to left, though we do not speak its language.
    Object.assign(this.root, { lang, ...(dir === "rtl" ? { dir } : {}) });
    root.replaceChildren(this.root);
    this.#listen();
    this.#load();
  }

  close() {
    this.#abort.abort();
    this.#router?.close();
    this.notices.close();
    this.store.close();
    this.grid.disconnect();
    this.slots.close();
    this.#scrollPosition.close();
  }

  /** Start a search as the element or the address says. */
  restart() {
    this.actions.start({});
  }

  /** Open the session that the element or the address names, or start one. */
  #load() {
    const session = this.#host.getAttribute("session");
    const ref = this.#initialRef ?? this.#router?.read() ?? null;
    if (session) this.store.open({ kind: "session", id: session });
    else if (ref) this.store.open(ref);
    else this.actions.start(this.#host.hasAttribute("whole-page") ? addressOptions() : {}, false);
    if (!this.#plain && !this.#host.hasAttribute("catalog")) this.#loadCatalogs();
  }

  async #loadCatalogs() {
    const catalogs = await this.actions.valueOrNull(
      this.store.request(() => this.#api.catalogs(), this.#abort.signal),
    );
    this.catalogSelect.setCatalogs(catalogs ?? []);
    if (this.store.session) this.catalogSelect.select(this.store.session.catalog);
  }

  /** @param {SessionRef | null} ref */
  #navigate(ref) {
    if (!ref) this.actions.start({}, false);
    else if (ref.id !== this.store.ref?.id || this.store.phase !== "ready") this.store.open(ref);
  }

  #listen() {
    const { signal } = this.#abort;
    const { store } = this;
    store.addEventListener("change", () => this.#update(), { signal });
    store.addEventListener("session", () => this.#showSession(), { signal });
    store.addEventListener(
      "confirm",
      (event) => {
        const { command, session } = /** @type {CustomEvent<{command: Command, session: Session}>} */ (event)
          .detail;
        this.actions.tell(command, session);
      },
      { signal },
    );
    store.addEventListener(
      "refusal",
      (event) => this.#showRefusal(/** @type {CustomEvent<RefusedError>} */ (event).detail),
      { signal },
    );
    this.grid.connect();
    enableSwipe(this.grid.list, (item, verdict) => this.actions.rate(item, verdict));
    listenForShortcuts(this.#host, signal, (shortcut) => this.#runShortcut(shortcut));
    listenForPictures(
      this.#host,
      signal,
      () => !this.picturePicker.element.hidden && !store.readOnly,
      (picture) => this.actions.likeExample(picture),
    );
    document.addEventListener("scroll", () => this.#scrollPosition.save(store, this.rankingView.expanded), {
      signal,
      passive: true,
    });
    watchSize(this.root, signal);
  }

  /** Bring everything up to date but the ranking, which changes with a new answer only. */
  #update() {
    const { store } = this;
    const { session, phase } = store;
    this.notices.update(store);
    this.grid.list.setAttribute("aria-busy", String(store.busy));
    const waiting = phase === "loading" && (!session || session.id !== store.ref?.id);
    const classes = {
      readonly: store.readOnly,
      ended: Boolean(session?.found),
      away: phase === "gone" || phase === "failed",
      waiting,
      begun: (session?.step ?? 0) > 0,
    };
    for (const [name, on] of Object.entries(classes)) this.root.classList.toggle(name, on);
    this.sharedBanner.hidden = !store.readOnly || phase !== "ready";
    if (waiting) this.grid.showSkeletons(Number(this.#host.getAttribute("page-size")) || USUAL_PAGE_SIZE);
    this.emptyState.update(
      emptyReason(store, this.#startsSearches || !this.#plain, {
        start: () => this.actions.start({}),
        reload: () => this.#load(),
      }),
    );
    const hasItems = phase === "loading" || (phase === "ready" && (this.#plain || !session?.found));
    this.rankingView.update(waiting ? null : session, hasItems);
    if (phase !== "ready" || !session) return;
    this.grid.update();
    this.panel.update();
    if (this.#plain) return;
    this.result.update(store);
    this.searchBox.update(store);
    this.picturePicker.update(store);
    this.chips.update(store);
    this.filters.update(store);
  }

  #showSession() {
    const { session } = this.store;
    if (!session) return;
    const scroll = this.#scrollPosition.recall(session);
    this.rankingView.show(session, Boolean(scroll?.expanded), this.#pageFetcher(session));
    if (scroll) scrollTo(0, scroll.top);
    else if (this.#host.getBoundingClientRect().top < 0) this.#host.scrollIntoView({ block: "start" });
    this.notices.announcePage(session);
    this.#showCatalog(session.catalog);
    this.actions.emit("session", { session });
  }

  /** @param {Session} session */
  #pageFetcher({ catalog }) {
    const ref = this.#ref();
    return async (/** @type {number} */ offset, /** @type {number} */ limit) => {
      const page = await this.actions.valueOrNull(
        this.store.request(() => this.#api.items(ref, offset, limit)),
      );
      this.store.items.add(catalog, page?.items ?? []);
      return page;
    };
  }

  /** @param {string} catalog */
  async #showCatalog(catalog) {
    this.catalogSelect.select(catalog);
    const facts = this.#host.getAttribute("card");
    if ((this.#plain && facts === null) || this.#catalog === catalog) return;
    this.#catalog = catalog;
    const details = await this.actions.valueOrNull(
      this.store.request(() => this.#api.catalog(catalog), this.#abort.signal),
    );
    if (!details || catalog !== this.#catalog) return;
    this.filters.setFacets(details.facets, details.attributes);
    const formats = facts === null ? details.attributes : cardFormats(details.attributes, facts);
    this.store.setFormats(formats);
    this.slots.setFormats(formats);
    this.searchBox.offer(details.reads_words);
    this.picturePicker.element.hidden = !details.reads_pictures;
    this.credit.textContent = String(details.about.attribution ?? "");
  }

  /** @param {RefusedError} refusal */
  #showRefusal(refusal) {
    const conflict = refusal.session && refusal.code !== "session-full" && !this.#plain;
    const message = refusal.status === ITEM_GONE ? say("status.itemGone") : refusal.message;
    this.notices.showAlert(conflict ? say("status.conflict") : message);
    this.actions.emit("refused", {
      session: this.store.session,
      status: refusal.status,
      code: refusal.code,
      message: refusal.message,
    });
  }

  #ref() {
    const { ref } = this.store;
    if (!ref) throw new Error(say("problem.no-search"));
    return ref;
  }

  /** @param {Item} item */
  #openItem(item) {
    this.actions.emit("open", { session: this.store.session, item: item.id, title: item.title });
    this.detail.open(item, { verdicts: !this.store.readOnly, reasons: !this.#plain });
  }

  #expandRanking() {
    this.rankingView.expand();
    this.#update();
    this.#scrollPosition.save(this.store, true);
  }

  /** @param {Shortcut} shortcut @returns {boolean} whether it meant something */
  #runShortcut(shortcut) {
    if (this.root.querySelector("dialog[open]")) return false;
    const { panel } = this;
    return runShortcut(shortcut, this.grid, {
      rate: (item, verdict) => this.actions.rate(item.id, verdict),
      undo: () => panel.undo.disabled || this.actions.travel(-1),
      redo: () => panel.redo.disabled || this.actions.travel(1),
      help: this.#plain ? null : () => this.helpDialog.showModal(),
      words: this.#plain || this.searchBox.element.hidden ? null : () => this.searchBox.input.focus(),
    });
  }
}

/** The whole page. @param {App} app */
function fullLayout(app) {
  const { actions, helpDialog } = app;
  const header = element(
    "header",
    { part: "header" },
    element("h1", { part: "brand" }, icon("mark"), element("span", {}, say("document.title"))),
    app.catalogSelect.element,
    app.searchBox.element,
    app.picturePicker.element,
    app.filters.button,
    element(
      "div",
      { className: "links" },
      textButton(say("startAnew"), () => actions.start({}), { icon: "plus", className: "quiet" }),
      textButton(say("share"), () => actions.share(), { icon: "share", className: "quiet share" }),
      textButton(say("help"), () => helpDialog.showModal(), { icon: "help", className: "quiet" }),
    ),
  );
  const main = element(
    "div",
    { className: "main" },
    element("p", { className: "hint soft" }, say("howTo")),
    app.chips.element,
    app.searchBox.note,
    app.filters.element,
    app.emptyState.element,
    app.result.element,
    app.rankingView.partial,
    app.grid.stage,
    app.rankingView.more,
    app.rankingView.end,
  );
  return element(
    "div",
    { className: "seeker" },
    header,
    ...app.notices.elements,
    app.sharedBanner,
    element("div", { className: "body" }, main, app.panel.element),
    app.credit,
    app.detail.dialog,
    app.shareDialog.dialog,
    helpDialog,
  );
}

/** Grid, trays, undo and redo only. @param {App} app */
function plainLayout(app) {
  const main = element(
    "div",
    { className: "main" },
    app.emptyState.element,
    app.rankingView.partial,
    app.grid.stage,
  );
  return element(
    "div",
    { className: "seeker plain" },
    ...app.notices.elements,
    app.sharedBanner,
    element("div", { className: "body" }, main, app.panel.element),
    app.detail.dialog,
  );
}

/** How attributes are shown, those on cards as the element says. @param {Formats} formats @param {string} facts names of attributes @returns {Formats} */
function cardFormats(formats, facts) {
  const names = new Set(facts.split(/[\s,]+/).filter(Boolean));
  return Object.fromEntries(
    [...new Set([...Object.keys(formats), ...names])].map((name) => [
      name,
      { ...formats[name], card: names.has(name) },
    ]),
  );
}

/** @param {() => void} fork */
function createSharedBanner(fork) {
  return element(
    "div",
    { className: "banner shared", hidden: true },
    element("p", {}, say("shared")),
    textButton(say("continue"), fork, { className: "primary" }),
  );
}

/** Let the look depend on the room there is, be it a window or a column of some site. @param {HTMLElement} root @param {AbortSignal} signal */
function watchSize(root, signal) {
  const update = () => {
    const width = root.clientWidth / parseFloat(getComputedStyle(document.documentElement).fontSize);
    root.dataset.size = width >= WIDE_EM ? "wide" : width >= MEDIUM_EM ? "medium" : "narrow";
  };
  update();
  const observer = new ResizeObserver(update);
  observer.observe(root);
  signal.addEventListener("abort", () => observer.disconnect());
}
