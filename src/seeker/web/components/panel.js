// Beside the grid, or below it on a small screen: where the search stands, what was liked and
// disliked, and the steps so far.

import { flyFrom } from "../animation.js";
import { setExploration, setFocus } from "../commands.js";
import { button, element, icon, reconcile, textButton } from "../dom.js";
import { say } from "../strings.js";
import { BeliefView } from "./belief.js";
import { itemFace, itemTitle } from "./card.js";

/** @import { SearchStore } from "../store.js" */
/** @import { HistoryEntry } from "../types.js" */

/** So much more exploration than usual: about half of the page leaves the beaten track. */
const SURPRISING_LEVEL = 4;
const VERDICT_ICONS = /** @type {const} */ ({ like: "heart", dislike: "cross", clear: "undo" });

/**
 * @typedef {object} PanelHandlers
 * @property {(item: string) => void} clear
 * @property {(steps: number) => void} travel
 */

export class Panel {
  #plain;
  #store;

  /** @param {SearchStore} store @param {PanelHandlers} handlers @param {boolean} plain */
  constructor(store, handlers, plain) {
    this.#store = store;
    this.#plain = plain;
    this.belief = new BeliefView((views) => store.dispatch(setFocus(views)));
    this.trays = new Trays(handlers.clear);
    this.steps = new StepStrip(handlers.travel);
    this.undo = button(say("panel.undo"), () => handlers.travel(-1), { icon: "undo" });
    this.redo = button(say("panel.redo"), () => handlers.travel(1), {
      icon: "redo",
      className: "forward",
    });
    this.surprise = textButton(say("panel.surprise"), () => this.#toggleExploration(), {
      icon: "spark",
      className: "surprise",
    });
    this.more = element(
      "button",
      {
        type: "button",
        className: "more",
        "aria-expanded": "false",
        "aria-controls": "way",
        onclick: () => this.#toggle(),
      },
      element("i", { className: "hearts" }, icon("heart")),
      element("i", { className: "crosses" }, icon("cross")),
      icon("up"),
    );
    this.tools = element(
      "div",
      { className: "tools" },
      this.undo,
      this.redo,
      ...(plain ? [] : [this.surprise, this.more]),
    );
    this.element = element(
      "aside",
      { className: "panel", part: "panel", "aria-label": say("panel.label") },
      ...(plain ? [] : [this.belief.element]),
      this.tools,
      element(
        "div",
        { className: "way", id: "way" },
        this.trays.element,
        ...(plain ? [] : [this.steps.element]),
      ),
    );
  }

  update() {
    const { session, inputs, readOnly } = this.#store;
    if (!session) return;
    this.trays.update(this.#store);
    this.undo.disabled = readOnly || session.step === 0;
    this.redo.disabled = readOnly || !session.undone;
    this.tools.classList.toggle("ahead", session.undone > 0);
    this.tools.hidden = readOnly;
    if (this.#plain) return;
    this.belief.update(session, inputs.focus, readOnly);
    this.steps.update(this.#store);
    this.surprise.setAttribute("aria-pressed", String(session.exploration > 1));
    const { likes, dislikes } = inputs;
    this.#setCount("hearts", likes.length);
    this.#setCount("crosses", dislikes.length);
    this.more.setAttribute(
      "aria-label",
      say("panel.counts", { likes: likes.length, dislikes: dislikes.length }),
    );
  }

  /** @param {"hearts" | "crosses"} className @param {number} count */
  #setCount(className, count) {
    const place = this.more.querySelector(`.${className}`);
    // Drawn by the stylesheet: the button's name says it in words.
    if (place instanceof HTMLElement) place.dataset.count = String(count);
  }

  #toggleExploration() {
    const surprising = (this.#store.session?.exploration ?? 1) > 1;
    this.#store.dispatch(setExploration(surprising ? 1 : SURPRISING_LEVEL));
  }

  #toggle() {
    const open = this.element.classList.toggle("open");
    this.more.setAttribute("aria-expanded", String(open));
    if (open) this.steps.scrollToCurrent();
  }
}

/** The trays: what was liked and what was disliked, each with a way to clear it. */
export class Trays {
  /** Where clicked cards were, so that they can come flying. @type {Map<string, DOMRect>} */
  #origins = new Map();
  #clear;

  /** @param {(item: string) => void} clear */
  constructor(clear) {
    this.#clear = clear;
    this.likes = createTray("tray liked", say("panel.liked"));
    this.dislikes = createTray("tray disliked", say("panel.disliked"));
    this.element = element(
      "div",
      { className: "trays", part: "trays" },
      element("section", {}, element("h2", {}, icon("heart"), say("panel.liked")), this.likes),
      element("section", {}, element("h2", {}, icon("cross"), say("panel.disliked")), this.dislikes),
    );
  }

  /** Let an item come flying from where it was. @param {string} item @param {DOMRect} box */
  setOrigin(item, box) {
    this.#origins.set(item, box);
  }

  /** @param {SearchStore} store */
  update(store) {
    const { likes, dislikes } = store.inputs;
    this.element.classList.toggle("empty", likes.length + dislikes.length === 0);
    this.#fill(this.likes, likes, say("panel.likedHint"), store);
    this.#fill(this.dislikes, dislikes, say("panel.dislikedHint"), store);
    this.#origins.clear();
  }

  /** @param {HTMLElement} tray @param {string[]} ids @param {string} hint what stands in an empty tray @param {SearchStore} store */
  #fill(tray, ids, hint, store) {
    tray.parentElement?.classList.toggle("empty", !ids.length);
    reconcile(
      tray,
      ids.length
        ? ids.map((id) => [trayKey(id, store), () => this.#createEntry(id, store)])
        : [["", () => element("li", { className: "hint" }, hint)]],
    );
    for (const entry of tray.children) {
      const box = entry instanceof HTMLElement && this.#origins.get(entry.dataset.id ?? "");
      if (box) flyFrom(entry, box);
    }
  }

  /** @param {string} id @param {SearchStore} store */
  #createEntry(id, store) {
    const item = store.item(id);
    const title = itemTitle(item);
    const entry = element("li", { title });
    entry.dataset.id = id;
    if (store.readOnly) {
      entry.append(itemFace(item, title));
    } else {
      const clear = button(say("panel.clear", { title }), () => this.#clear(id));
      clear.append(itemFace(item), icon("cross"));
      entry.append(clear);
    }
    return entry;
  }
}

/** @param {string} className @param {string} label */
const createTray = (className, label) =>
  element("ul", { className, part: "tray", role: "list", "aria-label": label });

/** What the look of a tray's entry depends on. @param {string} id @param {SearchStore} store */
function trayKey(id, store) {
  const { media, title } = store.item(id);
  return JSON.stringify([id, media, title, store.readOnly]);
}

/** The steps so far, which can be gone back to, and forward again. */
export class StepStrip {
  /** What undo has taken back, in order, as far as it was seen here. @type {HistoryEntry[]} */
  #undone = [];
  /** @type {HistoryEntry[]} */
  #history = [];
  #session = "";
  #currentStep = 0;
  #travel;

  /** @param {(steps: number) => void} travel by how many steps to go back (below zero) or forward */
  constructor(travel) {
    this.#travel = travel;
    this.list = element("ol", { className: "strip", part: "steps", "aria-label": say("panel.steps") });
    const heading = element("h2", {}, say("panel.yourSteps"));
    this.element = element("section", { className: "steps" }, heading, this.list);
  }

  /** @param {SearchStore} store */
  update(store) {
    const { session } = store;
    if (!session) return;
    this.#follow(session.id, session.history, session.undone);
    const current = session.history.length;
    const steps = [...session.history, ...this.#undone].map((entry) => ({
      entry,
      description: describeStep(entry, (id) => itemTitle(store.item(id))),
    }));
    this.element.hidden = !steps.length;
    reconcile(this.list, [
      ["start", () => this.#createEntry(0, "", [element("span", {}, say("panel.start"))])],
      ...steps.map(({ entry, description }, index) => this.#stepEntry(entry, index, description, store)),
    ]);
    ["", ...steps.map(({ description }) => description)].forEach((description, step) =>
      this.#mark(step, description, current, store.readOnly),
    );
    if (current === this.#currentStep) return;
    this.#currentStep = current;
    this.scrollToCurrent();
  }

  /** Bring the step that the search is at into sight. */
  scrollToCurrent() {
    const strip = this.list.getBoundingClientRect();
    const entry = this.list.children[this.#currentStep]?.getBoundingClientRect();
    if (entry) this.list.scrollLeft += entry.left + entry.width / 2 - strip.left - strip.width / 2;
  }

  /** Remember what was taken back: the service only says how much. @param {string} session @param {HistoryEntry[]} history @param {number} undone */
  #follow(session, history, undone) {
    if (session !== this.#session) this.#history = this.#undone = [];
    this.#session = session;
    const all = [...this.#history, ...this.#undone];
    this.#undone = undone > 0 && all.length === history.length + undone ? all.slice(history.length) : [];
    this.#history = history;
  }

  /** @param {HistoryEntry} entry @param {number} index @param {string} description @param {SearchStore} store @returns {[string, () => HTMLElement]} */
  #stepEntry(entry, index, description, store) {
    const media = entry.item === undefined ? null : store.item(entry.item).media;
    const create = () => this.#createEntry(index + 1, description, stepPicture(entry, store));
    return [JSON.stringify([index, description, media]), create];
  }

  /** @param {number} step @param {string} title @param {Node[]} picture */
  #createEntry(step, title, picture) {
    const onclick = () => {
      if (step !== this.#currentStep) this.#travel(step - this.#currentStep);
    };
    return element("li", { title }, element("button", { type: "button", onclick }, ...picture));
  }

  /** Say how a step stands to where the search is. @param {number} step @param {string} description @param {number} current @param {boolean} readOnly */
  #mark(step, description, current, readOnly) {
    const entry = this.list.children[step];
    const control = entry?.querySelector("button");
    if (!entry || !control) return;
    entry.classList.toggle("ahead", step > current);
    control.disabled = readOnly;
    const label = step
      ? say(step > current ? "panel.goForward" : "panel.goBack", { step, description })
      : say("panel.backToStart");
    control.setAttribute("aria-label", label);
    if (step === current) control.setAttribute("aria-current", "step");
    else control.removeAttribute("aria-current");
  }
}

/** Say what happened in one step. @param {HistoryEntry} entry @param {(id: string) => string} titleOf */
export function describeStep(entry, titleOf) {
  const title = entry.item === undefined ? "" : titleOf(entry.item);
  switch (entry.type) {
    case "click":
      return say(`history.${entry.verdict ?? "clear"}`, { title });
    case "example":
      return say("history.example", { title });
    case "say":
      return say("history.say", { text: entry.text ?? "" });
    case "unsay":
      return say("history.unsay", { text: entry.text ?? "" });
    case "filter":
      return say(entry.filter && Object.keys(entry.filter).length ? "history.filter" : "history.noFilter");
    case "focus":
      return say("history.focus");
    case "explore":
      return say((entry.level ?? 1) > 1 ? "history.surprise" : "history.noSurprise");
    case "found":
      return say("history.found", { title });
    default:
      // A newer service may know things that this page does not.
      return say("history.other");
  }
}

/** @param {HistoryEntry} entry @param {SearchStore} store @returns {Node[]} */
function stepPicture(entry, store) {
  switch (entry.type) {
    case "click":
      return [itemFace(store.item(entry.item ?? "")), icon(VERDICT_ICONS[entry.verdict ?? "clear"])];
    case "example":
      return [itemFace(store.item(entry.item ?? "")), icon("similar")];
    case "found":
      return [itemFace(store.item(entry.item ?? "")), icon("check")];
    case "say":
      return [element("span", { className: "said", dir: "auto" }, entry.text ?? "")];
    case "unsay":
      return [element("s", { className: "said", dir: "auto" }, entry.text ?? "")];
    case "filter":
      return [icon("filter")];
    case "focus":
      return [icon("focus")];
    case "explore":
      return [icon("spark")];
    default:
      return [];
  }
}
