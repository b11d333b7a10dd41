// The trays: what was liked and what was disliked, each with a way to clear it.

import { button, element, setEntries } from "./dom.js";
import { icon } from "./drawing.js";
import { faceOf } from "./face.js";
import { titleOf } from "./item.js";
import { fly } from "./motion.js";

/** @import { Search } from "./search.js" */

export class Trays {
  /** Where clicked cards were, so that they can come flying. @type {Map<string, DOMRect>} */
  #origins = new Map();
  #clear;

  /** @param {(item: string) => void} clear */
  constructor(clear) {
    this.#clear = clear;
    this.liked = element("ul", {
      className: "tray liked",
      part: "tray",
      role: "list",
      "aria-label": "Liked",
    });
    this.disliked = element("ul", {
      className: "tray disliked",
      part: "tray",
      role: "list",
      "aria-label": "Disliked",
    });
    this.element = element(
      "div",
      { className: "trays", part: "trays" },
      element("section", {}, element("h2", {}, icon("heart"), "Liked"), this.liked),
      element("section", {}, element("h2", {}, icon("cross"), "Disliked"), this.disliked),
    );
  }

  /** Let an item come flying from where it was. @param {string} item @param {DOMRect} box */
  from(item, box) {
    this.#origins.set(item, box);
  }

  /** @param {Search} search */
  show(search) {
    const { likes, dislikes } = search.foreseen;
    this.element.classList.toggle("empty", likes.length + dislikes.length === 0);
    this.#fill(this.liked, likes, search);
    this.#fill(this.disliked, dislikes, search);
    this.#origins.clear();
  }

  /** @param {HTMLElement} tray @param {string[]} ids @param {Search} search */
  #fill(tray, ids, search) {
    const hint = tray === this.liked ? "What comes close" : "What does not";
    tray.parentElement?.classList.toggle("empty", !ids.length);
    setEntries(
      tray,
      ids.length
        ? ids.map((id) => [entryKey(id, search), () => this.#entry(id, search)])
        : [["", () => element("li", { className: "hint" }, hint)]],
    );
    for (const entry of tray.children) {
      const box = entry instanceof HTMLElement && this.#origins.get(entry.dataset.id ?? "");
      if (box) fly(entry, box);
    }
  }

  /** @param {string} id @param {Search} search */
  #entry(id, search) {
    const item = search.item(id);
    const title = titleOf(item);
    const entry = element("li", { title });
    entry.dataset.id = id;
    if (search.readOnly) {
      entry.append(faceOf(item, title));
    } else {
      const clear = button(`Clear ${title}`, () => this.#clear(id));
      clear.append(faceOf(item), icon("cross"));
      entry.append(clear);
    }
    return entry;
  }
}

/** What an entry's look depends on. @param {string} id @param {Search} search */
function entryKey(id, search) {
  const { media, title } = search.item(id);
  return JSON.stringify([id, media, title, search.readOnly]);
}
