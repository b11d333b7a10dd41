// Chips for all that is in effect, words and filters, each with a way to remove it.

import { button, element, setEntries } from "./dom.js";
import { changed } from "./filters.js";
import { condition } from "./sentences.js";

/** @import { Search } from "./search.js" */
/** @import { Filter } from "./types.js" */

export class Chips {
  /** @type {Filter | null} */
  #filter = null;
  #unsay;
  #narrow;

  /**
   * @param {(text: string) => void} unsay
   * @param {(filter: Filter | null) => void} narrow
   */
  constructor(unsay, narrow) {
    this.#unsay = unsay;
    this.#narrow = narrow;
    this.element = element("ul", {
      className: "chips",
      part: "chips",
      role: "list",
      "aria-label": "In effect",
      hidden: true,
    });
  }

  /** @param {Search} search */
  show({ foreseen, readOnly }) {
    const { query, said, filter } = foreseen;
    this.#filter = filter;
    const words = [...(query ? [query] : []), ...said];
    setEntries(this.element, [
      ...words.map((text) => this.#chip(`“${text}”`, text, readOnly, () => this.#unsay(text))),
      ...Object.entries(filter ?? {}).map(([name, wanted]) => {
        const asked = condition(name, wanted);
        return this.#chip(asked, asked, readOnly, () => this.#narrow(changed(this.#filter, name)));
      }),
    ]);
    this.element.hidden = !this.element.children.length;
  }

  /**
   * @param {string} text
   * @param {string} name
   * @param {boolean} readOnly
   * @param {() => void} remove
   * @returns {[string, () => HTMLElement]}
   */
  #chip(text, name, readOnly, remove) {
    const make = () => {
      const chip = element("li", { part: "chip" }, element("span", {}, text));
      if (!readOnly) chip.append(button(`Remove ${name}`, remove, { icon: "cross" }));
      return chip;
    };
    return [JSON.stringify([text, readOnly]), make];
  }
}
