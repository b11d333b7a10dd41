// <seeker-search>: likes and dislikes in, better pages out. On any site, this is all there is to add:
//
//   <script type="module" src="https://seeker.example/web/seeker.js"></script>
//   <seeker-search catalog="shoes"></seeker-search>
//
// Attributes: catalog, page-size, session (opens that one), plain (grid, trays, undo and redo only),
// whole-page (keys are heard wherever they are typed).
// Events: seeker:session, seeker:click, seeker:found. Property: session, the last answer.

import { Service } from "./service.js";
import { View } from "./view.js";

/** @import { Session } from "./types.js" */

const here = new URL(import.meta.url);
const service = new Service(new URL("/", here));
const sheets = await Promise.all(
  ["./colours.css", "./style.css", "./grid.css", "./panel.css", "./dialogs.css"].map(sheet),
);

/** @param {string} name */
async function sheet(name) {
  const answer = await fetch(new URL(name, here));
  if (!answer.ok) throw new Error(`The stylesheet ${name} could not be had: ${answer.status}.`);
  return new CSSStyleSheet().replace(await answer.text());
}

class SeekerSearch extends HTMLElement {
  static observedAttributes = ["session", "catalog"];

  /** @type {View | null} */
  #view = null;

  /** The last answer of the service. @returns {Session | null} */
  get session() {
    return this.#view?.search.answer ?? null;
  }

  connectedCallback() {
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = sheets;
    this.#view = new View(this, root, service);
  }

  disconnectedCallback() {
    this.#view?.close();
    this.#view = null;
  }

  /** @param {string} name @param {string | null} before @param {string | null} now */
  attributeChangedCallback(name, before, now) {
    if (before === now || !this.#view) return;
    if (name === "session" && now) this.#view.search.open({ kind: "session", id: now });
    if (name === "catalog" && !this.hasAttribute("session")) this.#view.actions.begin({});
  }
}

customElements.define("seeker-search", SeekerSearch);
