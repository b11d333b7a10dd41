// <seeker-search>: likes and dislikes in, better pages out. On any site, this is all there is to add:
//
//   <script type="module" src="https://seeker.example/web/seeker.js"></script>
//   <seeker-search catalog="shoes"></seeker-search>
//
// Attributes: catalog, page-size, session (opens that one), like (begins with that item, or a JSON list of
// them), plain (grid, trays, undo and redo only), whole-page (keys are heard wherever they are typed).
// Events: seeker:session, seeker:click, seeker:found. Property: session, the last answer.

import { ApiClient } from "./api.js";
import { App } from "./app.js";
import { strings } from "./strings.js";

/** @import { Session } from "./types.js" */

const base = new URL(import.meta.url);
const api = new ApiClient(new URL("../", base));
const stylesheets = await Promise.all(
  ["./colours.css", "./style.css", "./grid.css", "./panel.css", "./dialogs.css"].map(loadStylesheet),
);

/** @param {string} name */
async function loadStylesheet(name) {
  const response = await fetch(new URL(name, base));
  if (!response.ok) throw new Error(strings.errors.stylesheet(name, response.status));
  return new CSSStyleSheet().replace(await response.text());
}

class SeekerSearch extends HTMLElement {
  static observedAttributes = ["session", "catalog", "like"];

  /** @type {App | null} */
  #app = null;

  /** The last answer of the service. @returns {Session | null} */
  get session() {
    return this.#app?.store.session ?? null;
  }

  connectedCallback() {
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = stylesheets;
    this.#app = new App(this, root, api);
  }

  disconnectedCallback() {
    this.#app?.close();
    this.#app = null;
  }

  /** @param {string} name @param {string | null} before @param {string | null} now */
  attributeChangedCallback(name, before, now) {
    if (before === now || !this.#app) return;
    if (name === "session" && now) this.#app.store.open({ kind: "session", id: now });
    if (name !== "session" && !this.hasAttribute("session")) this.#app.restart();
  }
}

customElements.define("seeker-search", SeekerSearch);
