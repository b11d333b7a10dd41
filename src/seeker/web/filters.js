// Filters: the values of a catalog's attributes with their counts, to be ticked or bounded.

import { button, element } from "./dom.js";
import { attributeName, plain } from "./item.js";
import { number } from "./sentences.js";

/** @import { Search } from "./search.js" */
/** @import { Facet, Filter } from "./types.js" */

const FEW = 8;

export class Filters {
  /** @type {Facet[]} */
  #facets = [];
  /** @type {Filter} */
  #filter = {};
  #narrow;

  /** @param {(filter: Filter | null) => void} narrow */
  constructor(narrow) {
    this.#narrow = narrow;
    this.element = element("section", {
      className: "filters",
      part: "filters",
      "aria-label": "Filters",
      id: "filters",
      hidden: true,
    });
    this.button = button("Filters", () => this.toggle(), {
      icon: "filter",
      text: "Filters",
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

  /** Offer what a catalog has. @param {Facet[]} facets */
  offer(facets) {
    this.#facets = facets.filter(useful);
    this.button.hidden = !this.#facets.length;
    if (!this.#facets.length) this.toggle(false);
    this.element.replaceChildren(...this.#facets.map((facet) => this.#group(facet)));
    this.#tick();
  }

  /** @param {Search} search */
  show({ foreseen, readOnly }) {
    this.#filter = foreseen.filter ?? {};
    this.button.disabled = readOnly;
    if (readOnly) this.toggle(false);
    this.#tick();
  }

  /** Make the boxes show what is in effect. */
  #tick() {
    for (const input of this.element.querySelectorAll("input")) {
      const wanted = this.#filter[input.name];
      if (input.type === "checkbox") {
        input.checked = [wanted].flat().map(plain).includes(input.value);
      } else if (!input.dataset.typing) {
        const bounds = /** @type {Record<string, number> | undefined} */ (wanted);
        input.value = String(bounds?.[input.dataset.bound ?? ""] ?? "");
      }
    }
  }

  /** @param {Facet} facet */
  #group(facet) {
    const body = facet.kind === "number" ? this.#range(facet) : this.#list(facet);
    return element("fieldset", {}, element("legend", {}, attributeName(facet.name)), ...body);
  }

  /** @param {Facet} facet @returns {Node[]} */
  #list(facet) {
    const boxes = facet.values.map(({ value, count }) => this.#box(facet, plain(value), number(count)));
    const further = boxes.length > FEW + 1 ? boxes.slice(FEW) : [];
    if (!further.length) return boxes;
    const fold = (/** @type {boolean} */ hidden) => further.forEach((box) => Object.assign(box, { hidden }));
    const all = button(
      `Show all of ${attributeName(facet.name)}`,
      () => {
        fold(false);
        further[0]?.querySelector("input")?.focus();
        all.remove();
      },
      { text: `${number(further.length)} more`, className: "quiet" },
    );
    fold(true);
    return [...boxes, all];
  }

  /** @param {Facet} facet @param {string} value @param {string} count */
  #box(facet, value, count) {
    const box = element("input", {
      type: "checkbox",
      name: facet.name,
      value,
      "aria-label": `${value} (${count})`,
      onchange: () => this.#choose(facet),
    });
    return element("label", {}, box, element("span", {}, value), element("small", {}, count));
  }

  /** @param {Facet} facet @returns {Node[]} */
  #range(facet) {
    const name = attributeName(facet.name);
    const bounds = [
      ["ge", "lowest", facet.low],
      ["le", "highest", facet.high],
    ];
    return [
      element(
        "div",
        { className: "range" },
        ...bounds.map(([bound, word, edge]) => {
          const input = element("input", {
            type: "number",
            name: facet.name,
            step: "any",
            inputMode: "decimal",
            placeholder: String(edge),
            "aria-label": `${word} ${name}`,
          });
          input.dataset.bound = String(bound);
          // What somebody is typing is not written over.
          input.oninput = () => {
            input.dataset.typing = "yes";
          };
          input.onchange = () => {
            delete input.dataset.typing;
            this.#bound(facet);
          };
          return element("label", {}, element("small", {}, bound === "ge" ? "from" : "to"), input);
        }),
      ),
    ];
  }

  /** @param {Facet} facet */
  #choose(facet) {
    const ticked = this.#inputs(facet)
      .filter((box) => box.checked)
      .map((box) => box.value);
    const values = facet.values.map(({ value }) => value).filter((value) => ticked.includes(plain(value)));
    this.#narrow(changed(this.#filter, facet.name, values.length ? values : undefined));
  }

  /** @param {Facet} facet */
  #bound(facet) {
    const given = this.#inputs(facet).filter(
      (input) => input.value.trim() !== "" && Number.isFinite(input.valueAsNumber),
    );
    const bounds = Object.fromEntries(given.map((input) => [input.dataset.bound ?? "", input.valueAsNumber]));
    this.#narrow(changed(this.#filter, facet.name, given.length ? bounds : undefined));
  }

  /** @param {Facet} facet */
  #inputs(facet) {
    return [...this.element.querySelectorAll("input")].filter((input) => input.name === facet.name);
  }
}

/**
 * A filter with another condition on one attribute, or with none on it.
 *
 * @param {Filter | null} filter
 * @param {string} name
 * @param {unknown} [wanted]
 * @returns {Filter | null}
 */
export function changed(filter, name, wanted) {
  const { [name]: _, ...rest } = filter ?? {};
  const now = wanted === undefined ? rest : { ...rest, [name]: wanted };
  return Object.keys(now).length ? now : null;
}

/** Whether people could choose by it: values that are all different tell nobody anything. @param {Facet} facet */
function useful(facet) {
  if (facet.kind === "number") return facet.low !== null && facet.high !== null && facet.low < facet.high;
  return facet.values.length > 1 && facet.distinct <= facet.known / 2;
}
