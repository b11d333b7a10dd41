// The box to describe something in words, what became of them, and the catalog to search in.

import { button, element, icon, setText } from "../dom.js";
import { list, quote, say } from "../strings.js";

/** @import { SearchStore } from "../store.js" */
/** @import { CatalogSummary, Session } from "../types.js" */

/** The service takes no longer texts. */
const LONGEST_TEXT = 1000;
/** So many of the items nearest by meaning are named. */
const NAMED_ITEMS = 3;

export class SearchBox {
  /** @param {(text: string) => void} onSubmit */
  constructor(onSubmit) {
    this.input = element("input", {
      type: "search",
      "aria-label": say("searchBox.label"),
      enterKeyHint: "search",
      autocomplete: "off",
      maxLength: LONGEST_TEXT,
      placeholder: say("searchBox.describe"),
      part: "words",
    });
    this.element = element("form", { className: "ask", role: "search" }, icon("search"), this.input);
    this.note = element("p", { className: "note soft", part: "note", "aria-live": "polite" });
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
    this.input.placeholder = begun ? say("searchBox.addWords") : say("searchBox.describe");
    this.input.disabled = readOnly;
    setText(this.note, session ? wordsNote(session) : "");
  }

  /** A catalog in which words mean nothing has no use for them. @param {boolean} readsWords */
  offer(readsWords) {
    this.element.hidden = !readsWords;
  }
}

/** What became of the words that were said last, where not all of them were understood. @param {Session} session */
function wordsNote({ words, history, page }) {
  const last = words.at(-1);
  if (!last) return "";
  const parts = Object.entries(last.corrections).map(([word, term]) =>
    say("words.corrected", { word, term }),
  );
  if (last.unknown.length)
    parts.push(say("words.unknown", { words: list(last.unknown.map(quote), "disjunction") }));
  const values = [...new Set(Object.values(last.nearest))];
  if (values.length) parts.push(say("words.nearest", { titles: list(values) }));
  if (!last.letters) {
    const titles = [...new Set(page.items.map((item) => item.title))].slice(0, NAMED_ITEMS);
    // After further clicks the page shows more than these words.
    const isPage = history.length === 0 || history.at(-1)?.type === "say";
    parts.push(
      !last.meaning
        ? say("words.useless")
        : isPage
          ? say("words.nearest", { titles: list(titles) })
          : say("words.byMeaning"),
    );
  }
  return parts.join(" ");
}

/** Takes a picture of one's own: chosen from files, or on a phone also taken just now. */
export class PicturePicker {
  /** @param {(picture: Blob) => void} onPicture */
  constructor(onPicture) {
    this.input = element("input", { type: "file", accept: "image/*", hidden: true });
    this.input.addEventListener("change", () => {
      const [file] = this.input.files ?? [];
      this.input.value = "";
      if (file) onPicture(file);
    });
    this.button = button(say("searchBox.picture"), () => this.input.click(), {
      icon: "picture",
      className: "quiet picture",
      part: "picture-button",
    });
    this.element = element("div", { className: "picker", hidden: true }, this.button, this.input);
  }

  /** @param {SearchStore} store */
  update({ readOnly }) {
    this.button.disabled = readOnly;
  }
}

/** Offers the catalogs of the service, where it has several. */
export class CatalogSelect {
  /** @param {(catalog: string) => void} onSelect */
  constructor(onSelect) {
    this.element = element("select", {
      className: "chooser",
      "aria-label": say("searchBox.catalog"),
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
        element("option", { value: name }, say("searchBox.catalogSize", { name, amount: items })),
      ),
    );
  }

  /** @param {string} catalog */
  select(catalog) {
    this.element.value = catalog;
  }
}
