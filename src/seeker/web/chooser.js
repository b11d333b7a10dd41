// Which catalog to search in, where the service has several.

import { element } from "./dom.js";
import { number } from "./sentences.js";

/** @import { CatalogLine } from "./types.js" */

export class Chooser {
  /** @param {(catalog: string) => void} choose */
  constructor(choose) {
    this.element = element("select", {
      className: "chooser",
      "aria-label": "Catalog",
      part: "chooser",
      hidden: true,
    });
    this.element.onchange = () => choose(this.element.value);
  }

  /** @param {CatalogLine[]} catalogs */
  offer(catalogs) {
    this.element.hidden = catalogs.length < 2;
    this.element.replaceChildren(
      ...catalogs.map(({ name, items }) => element("option", { value: name }, `${name} (${number(items)})`)),
    );
  }

  /** @param {string} catalog */
  show(catalog) {
    this.element.value = catalog;
  }
}
