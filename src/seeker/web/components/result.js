// The end of a search: what was found, how long it took, and the way there.

import { element, icon, textButton } from "../dom.js";
import { duration, quote, say } from "../strings.js";
import { LARGE_PICTURE, itemFace, itemTitle, itemUrl } from "./card.js";
import { describeStep } from "./panel.js";

/** @import { SearchStore } from "../store.js" */
/** @import { Formats, HistoryEntry, Item, Session } from "../types.js" */

/**
 * @typedef {object} ResultHandlers
 * @property {() => void} restart
 * @property {() => void} keepLooking
 * @property {() => void} share
 * @property {() => Promise<number | null>} seconds how long the search took, if that can be known
 * @property {(item: Item) => void} open
 */

export class Result {
  #handlers;
  /** What is on display: it is made anew only where something of it has changed. */
  #key = "";

  /** @param {ResultHandlers} handlers */
  constructor(handlers) {
    this.#handlers = handlers;
    this.element = element("section", {
      className: "summary",
      part: "found",
      "aria-label": say("result.label"),
      hidden: true,
    });
  }

  /** @param {SearchStore} store */
  update(store) {
    const { session } = store;
    this.element.hidden = !session?.found;
    if (!session?.found) {
      this.#key = "";
      return;
    }
    const item = store.item(session.found);
    const titles = session.history.map((entry) =>
      entry.item === undefined ? "" : store.item(entry.item).title,
    );
    const key = JSON.stringify([
      session.id,
      session.step,
      item.media,
      item.title,
      itemUrl(item, store.formats),
      ...titles,
    ]);
    if (key === this.#key) return;
    const isNew = this.#key === "";
    this.#key = key;
    this.#fill(store, session, item);
    if (isNew && !store.readOnly) this.element.querySelector("h2")?.focus();
  }

  /** @param {SearchStore} store @param {Session} session @param {Item} item */
  #fill(store, session, item) {
    const steps = session.history.filter(({ type }) => type !== "found").length;
    const effort = element(
      "p",
      { className: "took" },
      steps ? say("result.steps", { count: steps }) : say("result.atFirstSight"),
    );
    const tools = element("div", { className: "verdicts" }, this.#createLink(item, store.formats));
    if (!store.readOnly) {
      tools.append(
        textButton(say("share"), this.#handlers.share, { icon: "share" }),
        textButton(say("result.keepLooking"), this.#handlers.keepLooking, { icon: "undo" }),
        textButton(say("result.searchElse"), this.#handlers.restart, { icon: "plus" }),
      );
    }
    this.element.replaceChildren(
      ...(item.media ? [element("div", { className: "large" }, itemFace(item, "", LARGE_PICTURE))] : []),
      element(
        "div",
        { className: "about" },
        element("p", { className: "soft" }, store.readOnly ? say("result.label") : say("result.youFoundIt")),
        element("h2", { tabIndex: -1 }, itemTitle(item)),
        effort,
        ...(steps ? [createPath(store, session)] : []),
        tools,
      ),
    );
    this.#handlers.seconds().then((seconds) => {
      if (seconds !== null && steps)
        effort.textContent = say("result.stepsAndTime", { count: steps, time: duration(seconds) });
    });
  }

  /** The way to the item itself: its own page or its picture, or else all that is known of it. @param {Item} item @param {Formats} formats */
  #createLink(item, formats) {
    const href = itemUrl(item, formats);
    const text = say("result.open");
    if (!href) return textButton(text, () => this.#handlers.open(item), { className: "primary" });
    const properties = { className: "primary", href, target: "_blank", rel: "noopener noreferrer" };
    return element("a", properties, icon("link"), text);
  }
}

/** @param {SearchStore} store @param {Session} session */
function createPath(store, session) {
  return element(
    "ol",
    { className: "path", "aria-label": say("result.path") },
    ...session.history.map((entry) => createPathEntry(store, entry)),
  );
}

/** @param {SearchStore} store @param {HistoryEntry} entry */
function createPathEntry(store, entry) {
  const description = describeStep(entry, (id) => itemTitle(store.item(id)));
  const node = element("li", { title: description });
  if (entry.item === undefined) {
    const words = entry.type === "say" ? quote(entry.text ?? "") : description;
    node.append(element("span", { className: "said" }, words));
  } else {
    const isEnd = entry.type === "found";
    node.append(
      itemFace(store.item(entry.item), description),
      icon(isEnd ? "check" : entry.verdict === "like" ? "heart" : "cross"),
    );
    node.className = isEnd ? "end" : (entry.verdict ?? "");
  }
  return node;
}
