// Cards of a site's own making: what its templates say, for every item, among the site's own elements, so
// that its stylesheets and scripts reach them.
//
//   <template slot="card"><b data-field="title"></b> <span data-field="price"></span></template>
//   <template slot="actions"><button data-action="basket">Add to basket</button></template>

import { element } from "../dom.js";
import { NO_FORMATS, attributeText, isUrl, itemTitle, setPicture } from "./card.js";

/** @import { Formats, Item } from "../types.js" */
/** What of a card a site may fill: its face, or a row of buttons below it. @typedef {"card" | "actions"} SlotName */

export class CardSlots {
  #host;
  #next = 0;
  #formats = NO_FORMATS;
  /** By item and slot. @type {Map<string, {node: HTMLElement, item: Item, slot: HTMLSlotElement}>} */
  #filled = new Map();

  /** @param {HTMLElement} host @param {AbortSignal} signal @param {(action: string, item: Item) => void} onAction */
  constructor(host, signal, onAction) {
    this.#host = host;
    host.addEventListener(
      "click",
      (event) => {
        const target = event.target instanceof Element ? event.target.closest("[data-action]") : null;
        const owner = target?.closest("[data-seeker-item]");
        const entry = [...this.#filled.values()].find(({ node }) => node === owner);
        if (entry && target instanceof HTMLElement) onAction(target.dataset.action ?? "", entry.item);
      },
      { signal },
    );
  }

  /** A place for what the site says of an item; null where it says nothing. @param {SlotName} name @param {Item} item @param {string} sizes how wide a card is */
  place(name, item, sizes) {
    const template = this.#host.querySelector(`:scope > template[slot="${name}"]`);
    if (!(template instanceof HTMLTemplateElement)) return null;
    const key = JSON.stringify([name, item.id]);
    this.#filled.get(key)?.node.remove();
    const slot = `seeker-${name}-${this.#next++}`;
    const node = element("div", { slot, "data-seeker-item": item.id }, template.content.cloneNode(true));
    // How wide its pictures are, the site may know better.
    for (const one of node.querySelectorAll("img[data-field]:not([sizes])")) one.setAttribute("sizes", sizes);
    fill(node, item, this.#formats);
    this.#host.append(node);
    const place = element("slot", { name: slot });
    this.#filled.set(key, { node, item, slot: place });
    return place;
  }

  /** Show attributes as the catalog wants them. @param {Formats} formats */
  setFormats(formats) {
    this.#formats = formats;
    for (const { node, item } of this.#filled.values()) fill(node, item, formats);
  }

  /** Forget what belongs to cards that are gone. */
  sweep() {
    for (const [key, { node, slot }] of this.#filled) {
      if (slot.isConnected) continue;
      node.remove();
      this.#filled.delete(key);
    }
  }

  close() {
    for (const { node } of this.#filled.values()) node.remove();
    this.#filled.clear();
  }
}

/** Say of an item what a template asks for. @param {HTMLElement} node @param {Item} item @param {Formats} formats */
function fill(node, item, formats) {
  for (const place of node.querySelectorAll("[data-field]")) {
    const name = place.getAttribute("data-field") ?? "";
    const value = fieldValue(item, name);
    if (place instanceof HTMLImageElement) {
      if (typeof value === "string" && place.src !== value)
        setPicture(place, value, name === "media" ? item.pictures : undefined);
    } else if (place instanceof HTMLAnchorElement) {
      if (isUrl(value)) place.href = value;
    } else place.textContent = value === null ? "" : attributeText(value, formats[name]);
  }
}

/** @param {Item} item @param {string} name @returns {unknown} */
function fieldValue(item, name) {
  if (name === "title") return itemTitle(item);
  if (name === "id") return item.id;
  if (name === "media") return item.media;
  return item.attributes[name] ?? null;
}
