// Words: the box to type them into, and chips for all that is in effect, each with a way to remove it.

import { button, element, icon } from "./dom.js";
import { condition } from "./sentences.js";

/** @import { Search } from "./search.js" */

export class Words {
  /** @param {(text: string) => void} say */
  constructor(say) {
    this.input = element("input", {
      type: "search",
      "aria-label": "Words",
      enterKeyHint: "search",
      autocomplete: "off",
      maxLength: 1000,
      part: "words",
    });
    this.element = element("form", { className: "ask", role: "search" }, icon("search"), this.input);
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = this.input.value.trim();
      this.input.value = "";
      if (text) say(text);
    });
  }

  /** @param {Search} search */
  show({ answer, readOnly }) {
    const begun = answer && (answer.step > 0 || answer.query);
    this.input.placeholder = begun ? "Add words, such as “in blue”" : "Describe it, if you can";
    this.input.disabled = readOnly;
  }
}

export class Chips {
  #unsay;
  #narrow;

  /**
   * @param {(text: string) => void} unsay
   * @param {(filter: Record<string, unknown> | null) => void} narrow
   */
  constructor(unsay, narrow) {
    this.#unsay = unsay;
    this.#narrow = narrow;
    this.element = element("ul", {
      className: "chips",
      part: "chips",
      role: "list",
      "aria-label": "In effect",
    });
  }

  /** @param {Search} search */
  show({ foreseen, readOnly }) {
    const { query, said: texts, filter } = foreseen;
    const words = [...(query ? [query] : []), ...texts];
    this.element.replaceChildren(
      ...words.map((text) => this.#chip(`“${text}”`, text, readOnly, () => this.#unsay(text))),
      ...Object.entries(filter ?? {}).map(([name, wanted]) => {
        const said = condition(name, wanted);
        return this.#chip(said, said, readOnly, () => {
          const { [name]: _, ...rest } = filter ?? {};
          this.#narrow(Object.keys(rest).length ? rest : null);
        });
      }),
    );
    this.element.hidden = !this.element.children.length;
  }

  /** @param {string} text @param {string} name @param {boolean} readOnly @param {() => void} remove */
  #chip(text, name, readOnly, remove) {
    const chip = element("li", { part: "chip" }, element("span", {}, text));
    if (!readOnly) chip.append(button(`Remove ${name}`, remove, { icon: "cross" }));
    return chip;
  }
}
