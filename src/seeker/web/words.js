// Words: the box to type them into.

import { element } from "./dom.js";
import { icon } from "./drawing.js";

/** @import { Search } from "./search.js" */

const AT_FIRST = "Describe it, if you can";

export class Words {
  /** @param {(text: string) => void} say */
  constructor(say) {
    this.input = element("input", {
      type: "search",
      "aria-label": "Words",
      enterKeyHint: "search",
      autocomplete: "off",
      maxLength: 1000,
      placeholder: AT_FIRST,
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
    this.input.placeholder = begun ? "Add words, such as “in blue”" : AT_FIRST;
    this.input.disabled = readOnly;
  }
}
