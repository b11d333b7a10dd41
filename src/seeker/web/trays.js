// The trays: what was liked and what was disliked, each with a way to clear it.

import { faceOf } from "./card.js";
import { button, element, icon } from "./dom.js";
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
    const there = new Map(
      [...tray.children].map((child) => [/** @type {HTMLElement} */ (child).dataset.key ?? "", child]),
    );
    tray.replaceChildren(
      ...ids.map((id) => {
        const item = search.item(id);
        const key = `${search.readOnly}${id}${item.media ?? item.title}`;
        const entry = there.get(key) ?? this.#entry(id, key, search);
        return entry;
      }),
    );
    if (!ids.length)
      tray.append(
        element("li", { className: "hint" }, tray === this.liked ? "What comes close" : "What does not"),
      );
    tray.parentElement?.classList.toggle("empty", !ids.length);
    for (const [id, box] of this.#origins) {
      const entry = [...tray.children].find((child) => /** @type {HTMLElement} */ (child).dataset.id === id);
      if (entry instanceof HTMLElement) fly(entry, box);
    }
  }

  /** @param {string} id @param {string} key @param {Search} search */
  #entry(id, key, search) {
    const item = search.item(id);
    const face = faceOf(item);
    const entry = element("li", { title: item.title || id });
    if (search.readOnly) {
      if (face instanceof HTMLImageElement) face.alt = item.title;
      entry.append(face);
    } else {
      const clear = button(`Clear ${item.title || id}`, () => this.#clear(id));
      clear.append(face, icon("cross"));
      entry.append(clear);
    }
    Object.assign(entry.dataset, { id, key });
    return entry;
  }
}
