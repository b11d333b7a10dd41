// Filters: the values of a catalog's attributes with their counts, to be ticked or bounded; and chips
// for all that is in effect.

import { button, element, reconcile, textButton } from "../dom.js";
import { list, number, quote, say } from "../strings.js";
import { NO_FORMATS, attributeLabel, attributeText } from "./card.js";

/** @import { SearchStore } from "../store.js" */
/** @import { Facet, Filter, Formats } from "../types.js" */

/** So many values of an attribute are seen before somebody asks for all. */
const VALUES_AT_FIRST = 8;

export class Filters {
  /** @type {Facet[]} */
  #facets = [];
  /** @type {Filter} */
  #filter = {};
  /** @type {Formats} */
  #formats = NO_FORMATS;
  #onFilter;

  /** @param {(filter: Filter | null) => void} onFilter */
  constructor(onFilter) {
    this.#onFilter = onFilter;
    this.element = element("section", {
      className: "filters",
      part: "filters",
      "aria-label": say("filters.label"),
      id: "filters",
      hidden: true,
    });
    this.button = textButton(say("filters.label"), () => this.toggle(), {
      icon: "filter",
      className: "quiet",
    });
    this.button.setAttribute("aria-expanded", "false");
    this.button.setAttribute("aria-controls", "filters");
    this.button.hidden = true;
  }

  toggle(open = this.element.hidden) {
    this.element.hidden = !open;
    this.button.setAttribute("aria-expanded", String(open));
  }

  /** Offer what a catalog has. @param {Facet[]} facets @param {Formats} formats */
  setFacets(facets, formats) {
    this.#formats = formats;
    this.#facets = facets.filter(isUseful);
    this.button.hidden = !this.#facets.length;
    if (!this.#facets.length) this.toggle(false);
    this.element.replaceChildren(...this.#facets.map((facet) => this.#createGroup(facet)));
    this.#updateInputs();
  }

  /** @param {SearchStore} store */
  update({ inputs, readOnly }) {
    this.#filter = inputs.filter ?? {};
    this.button.disabled = readOnly;
    if (readOnly) this.toggle(false);
    this.#updateInputs();
  }

  /** Make the boxes show what is in effect. */
  #updateInputs() {
    for (const input of this.element.querySelectorAll("input")) {
      const condition = this.#filter[input.name];
      if (input.type === "checkbox") {
        input.checked = [condition]
          .flat()
          .map((value) => attributeText(value))
          .includes(input.value);
      } else if (!input.dataset.typing) {
        const bounds = /** @type {Record<string, number> | undefined} */ (condition);
        input.value = String(bounds?.[input.dataset.bound ?? ""] ?? "");
      }
    }
  }

  /** @param {Facet} facet */
  #createGroup(facet) {
    const body = facet.kind === "number" ? [this.#createRange(facet)] : this.#createList(facet);
    return element("fieldset", {}, element("legend", {}, attributeLabel(facet.name, this.#formats)), ...body);
  }

  /** @param {Facet} facet @returns {Node[]} */
  #createList(facet) {
    const boxes = facet.values.map(({ value, count }) =>
      this.#createBox(facet, attributeText(value), number(count)),
    );
    const rest = boxes.length > VALUES_AT_FIRST + 1 ? boxes.slice(VALUES_AT_FIRST) : [];
    if (!rest.length) return boxes;
    const hideRest = (/** @type {boolean} */ hidden) => rest.forEach((box) => Object.assign(box, { hidden }));
    const more = button(
      say("filters.showAll", { attribute: attributeLabel(facet.name, this.#formats) }),
      () => {
        hideRest(false);
        rest[0]?.querySelector("input")?.focus();
        more.remove();
      },
      { text: say("filters.more", { count: rest.length }), className: "quiet" },
    );
    hideRest(true);
    return [...boxes, more];
  }

  /** @param {Facet} facet @param {string} value @param {string} count */
  #createBox(facet, value, count) {
    const box = element("input", {
      type: "checkbox",
      name: facet.name,
      value,
      "aria-label": say("filters.value", { value, amount: count }),
      onchange: () => this.#applyValues(facet),
    });
    return element("label", {}, box, element("span", {}, value), element("small", {}, count));
  }

  /** @param {Facet} facet */
  #createRange(facet) {
    const label = attributeLabel(facet.name, this.#formats);
    return element(
      "div",
      { className: "range" },
      this.#createBound(
        facet,
        "ge",
        facet.low,
        say("filters.from"),
        say("filters.lowest", { attribute: label }),
      ),
      this.#createBound(
        facet,
        "le",
        facet.high,
        say("filters.to"),
        say("filters.highest", { attribute: label }),
      ),
    );
  }

  /**
   * @param {Facet} facet
   * @param {"ge" | "le"} bound
   * @param {number | null} extreme the lowest or highest that there is
   * @param {string} caption
   * @param {string} label
   */
  #createBound(facet, bound, extreme, caption, label) {
    const input = element("input", {
      type: "number",
      name: facet.name,
      step: "any",
      inputMode: "decimal",
      placeholder: attributeText(extreme, this.#formats[facet.name]),
      "aria-label": label,
    });
    input.dataset.bound = bound;
    // What somebody is typing is not written over.
    input.oninput = () => {
      input.dataset.typing = "yes";
    };
    input.onchange = () => {
      delete input.dataset.typing;
      this.#applyBounds(facet);
    };
    return element("label", {}, element("small", {}, caption), input);
  }

  /** @param {Facet} facet */
  #applyValues(facet) {
    const checked = this.#inputsOf(facet)
      .filter((box) => box.checked)
      .map((box) => box.value);
    const values = facet.values
      .map(({ value }) => value)
      .filter((value) => checked.includes(attributeText(value)));
    this.#onFilter(withCondition(this.#filter, facet.name, values.length ? values : undefined));
  }

  /** @param {Facet} facet */
  #applyBounds(facet) {
    const bounds = this.#inputsOf(facet)
      .filter((input) => input.value.trim() !== "" && Number.isFinite(input.valueAsNumber))
      .map((input) => [input.dataset.bound ?? "", input.valueAsNumber]);
    const condition = bounds.length ? Object.fromEntries(bounds) : undefined;
    this.#onFilter(withCondition(this.#filter, facet.name, condition));
  }

  /** @param {Facet} facet */
  #inputsOf(facet) {
    return [...this.element.querySelectorAll("input")].filter((input) => input.name === facet.name);
  }
}

/** Chips for all that is in effect, words and filters, each with a way to remove it. */
export class Chips {
  /** @type {Filter | null} */
  #filter = null;
  #onRemoveText;
  #onFilter;

  /**
   * @param {(text: string) => void} onRemoveText
   * @param {(filter: Filter | null) => void} onFilter
   */
  constructor(onRemoveText, onFilter) {
    this.#onRemoveText = onRemoveText;
    this.#onFilter = onFilter;
    this.element = element("ul", {
      className: "chips",
      part: "chips",
      role: "list",
      "aria-label": say("filters.chips"),
      hidden: true,
    });
  }

  /** @param {SearchStore} store */
  update({ inputs, readOnly, formats }) {
    const { query, said, filter } = inputs;
    this.#filter = filter;
    const texts = [...(query ? [query] : []), ...said];
    reconcile(this.element, [
      ...texts.map((text) => chipEntry(quote(text), text, readOnly, () => this.#onRemoveText(text))),
      ...Object.entries(filter ?? {}).map(([name, condition]) => {
        const text = conditionText(name, condition, formats);
        return chipEntry(text, text, readOnly, () => this.#onFilter(withCondition(this.#filter, name)));
      }),
    ]);
    this.element.hidden = !this.element.children.length;
  }
}

/**
 * @param {string} text
 * @param {string} name what is heard of it
 * @param {boolean} readOnly
 * @param {() => void} remove
 * @returns {[string, () => HTMLElement]}
 */
function chipEntry(text, name, readOnly, remove) {
  const create = () => {
    const chip = element("li", { part: "chip" }, element("span", {}, text));
    if (!readOnly)
      chip.append(button(say("filters.remove", { description: name }), remove, { icon: "cross" }));
    return chip;
  };
  return [JSON.stringify([text, readOnly]), create];
}

/** What a filter asks of one attribute. @param {string} name @param {unknown} condition @param {Formats} formats */
function conditionText(name, condition, formats) {
  const label = attributeLabel(name, formats);
  if (!condition || typeof condition !== "object" || Array.isArray(condition))
    return say("filters.oneOf", {
      attribute: label,
      values: list([condition].flat().map((value) => attributeText(value, formats[name]))),
    });
  const { ge, gt, le, lt } = /** @type {Record<string, number>} */ (condition);
  const low = ge ?? gt;
  const high = le ?? lt;
  const [from, to] = [low, high].map((bound) => attributeText(bound, formats[name]));
  if (low !== undefined && high !== undefined)
    return say("filters.between", { attribute: label, low: from ?? "", high: to ?? "" });
  return low !== undefined
    ? say("filters.atLeast", { attribute: label, low: from ?? "" })
    : say("filters.atMost", { attribute: label, high: to ?? "" });
}

/**
 * A filter with another condition on one attribute, or with none on it.
 *
 * @param {Filter | null} filter
 * @param {string} name
 * @param {unknown} [condition]
 * @returns {Filter | null}
 */
function withCondition(filter, name, condition) {
  const { [name]: _, ...rest } = filter ?? {};
  const changed = condition === undefined ? rest : { ...rest, [name]: condition };
  return Object.keys(changed).length ? changed : null;
}

/** Whether people could choose by it: values that are all different tell nobody anything. @param {Facet} facet */
function isUseful(facet) {
  if (facet.kind === "number") return facet.low !== null && facet.high !== null && facet.low < facet.high;
  return facet.values.length > 1 && facet.distinct <= facet.known / 2;
}
