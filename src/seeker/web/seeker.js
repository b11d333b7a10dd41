// <seeker-search>: likes and dislikes in, better pages out. On any site, this is all there is to add:
//
//   <script type="module" src="https://seeker.example/web/seeker.js"></script>
//   <seeker-search catalog="shoes"></seeker-search>
//
// Attributes: catalog, page-size, session (opens that one); how searches begin: query, filter (JSON), like (an
// item, or a JSON list of them); card (attributes that cards show); plain (grid, trays, undo and redo only),
// whole-page (keys are heard wherever they are typed); lang, messages (JSON: sentences in other words).
// Templates in slots: card, actions.
// Events: seeker:session after every answer, and one for everything that is done. Property: session, the last
// answer. Methods: everything that a person can do.

import { ApiClient } from "./api.js";
import { App } from "./app.js";
import * as commands from "./commands.js";
import { chooseLanguage, say, speak } from "./strings.js";

/** @import { FoundReason } from "./commands.js" */
/** @import { Filter, Session, SessionOptions } from "./types.js" */

const base = new URL(import.meta.url);
const api = new ApiClient(new URL("../", base));
const [stylesheets] = await Promise.all([
  Promise.all(
    ["./colours.css", "./style.css", "./grid.css", "./panel.css", "./dialogs.css"].map(loadStylesheet),
  ),
  speakAt(document.querySelector("seeker-search")),
]);

/** @param {string} name */
async function loadStylesheet(name) {
  const response = await fetch(new URL(name, base));
  if (!response.ok) throw new Error(say("problem.stylesheet"));
  return new CSSStyleSheet().replace(await response.text());
}

/** Speak as the place of an element asks for: in the language around it, else the reader's. @param {Element | null} place */
function speakAt(place) {
  const site = place?.closest("[lang]")?.getAttribute("lang") || document.documentElement.lang;
  return speak(chooseLanguage(site, navigator.languages), place?.getAttribute("messages") ?? null);
}

class SeekerSearch extends HTMLElement {
  static observedAttributes = ["session", "catalog", "query", "filter", "like", "lang", "messages"];

  /** @type {App | null} */
  #app = null;
  #siteObserver = new MutationObserver(() => this.#translate());

  /** The last answer of the service. @returns {Session | null} */
  get session() {
    return this.#app?.store.session ?? null;
  }

  /** Start a new search, as the element says, but for what is asked. @param {SessionOptions} [options] */
  start(options = {}) {
    return this.#open.actions.start(options);
  }

  /** @param {string} item */
  like(item) {
    this.#open.actions.click(item, "like");
  }

  /** @param {string} item */
  dislike(item) {
    this.#open.actions.click(item, "dislike");
  }

  /** Take back the verdict on an item. @param {string} item */
  clear(item) {
    this.#open.actions.click(item, "clear");
  }

  /** @param {string} text */
  say(text) {
    this.#open.actions.say(text);
  }

  /** Let words no longer count. @param {string} text */
  unsay(text) {
    this.#open.store.dispatch(commands.unsay(text));
  }

  /** Show only items that pass a filter, or all again. @param {Filter | null} filter */
  filter(filter) {
    this.#open.store.dispatch(commands.setFilter(filter));
  }

  /** @param {number} level 1 is usual, 0 the best only */
  explore(level) {
    this.#open.store.dispatch(commands.setExploration(level));
  }

  undo(count = 1) {
    this.#open.actions.travel(-count);
  }

  redo(count = 1) {
    this.#open.actions.travel(count);
  }

  /** End the search; with a reason, say how it has ended well elsewhere, and change nothing on the page. @param {string} item @param {FoundReason} [reason] */
  found(item, reason) {
    this.#open.actions.finish(item, reason);
  }

  /** The app, once the element stands in a document. */
  get #open() {
    if (!this.#app) throw new Error(say("problem.no-search"));
    return this.#app;
  }

  connectedCallback() {
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = stylesheets;
    this.#app = new App(this, root, api);
    this.#translate();
    this.#siteObserver.observe(document.documentElement, { attributeFilter: ["lang"] });
  }

  /** Say everything anew, if it is to be said in other words. */
  async #translate() {
    if (!(await speakAt(this)) || !this.#app || !this.shadowRoot) return;
    this.#app.close();
    this.#app = new App(this, this.shadowRoot, api);
  }

  disconnectedCallback() {
    this.#siteObserver.disconnect();
    this.#app?.close();
    this.#app = null;
  }

  /** @param {string} name @param {string | null} before @param {string | null} now */
  attributeChangedCallback(name, before, now) {
    if (before === now || !this.#app) return;
    if (name === "session" && now) this.#app.store.open({ kind: "session", id: now });
    else if (name === "lang" || name === "messages") this.#translate();
    else if (!this.hasAttribute("session")) this.#app.restart();
  }
}

customElements.define("seeker-search", SeekerSearch);
