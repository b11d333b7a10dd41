// The box to describe something in words, and the catalog to search in.

import { element, icon } from "../dom.js";
import { strings } from "../strings.js";

/** @import { SearchStore } from "../store.js" */
/** @import { CatalogSummary } from "../types.js" */

/** The service takes no longer texts. */
const LONGEST_TEXT = 1000;

export class SearchBox {
  /** @param {(text: string) => void} onSubmit */
  constructor(onSubmit) {
    this.input = element("input", {
      type: "search",
      "aria-label": strings.searchBox.label,
      enterKeyHint: "search",
      autocomplete: "off",
      maxLength: LONGEST_TEXT,
      placeholder: strings.searchBox.describe,
      part: "words",
    });
    this.element = element("form", { className: "ask", role: "search" }, icon("search"), this.input);
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = this.input.value.trim();
      this.input.value = "";
      if (text) onSubmit(text);
    });
  }

  /** @param {SearchStore} store */
  update({ session, readOnly }) {
    const begun = session && (session.step > 0 || session.query);
    this.input.placeholder = begun ? strings.searchBox.addWords : strings.searchBox.describe;
    this.input.disabled = readOnly;
  }
}

/** Offers the catalogs of the service, where it has several. */
export class CatalogSelect {
  /** @param {(catalog: string) => void} onSelect */
  constructor(onSelect) {
    this.element = element("select", {
      className: "chooser",
      "aria-label": strings.searchBox.catalog,
      part: "chooser",
      hidden: true,
    });
    this.element.onchange = () => onSelect(this.element.value);
  }

  /** @param {CatalogSummary[]} catalogs */
  setCatalogs(catalogs) {
    this.element.hidden = catalogs.length < 2;
    this.element.replaceChildren(
      ...catalogs.map(({ name, items }) =>
        element("option", { value: name }, strings.searchBox.catalogSize(name, items)),
      ),
    );
  }

  /** @param {string} catalog */
  select(catalog) {
    this.element.value = catalog;
  }
}
