// What a person can do, and what then happens to the search, the address and the site around it.

import { pulse } from "./animation.js";
import { errorMessage } from "./api.js";
import * as commands from "./commands.js";
import { shrinkPicture } from "./input.js";
import { sessionUrl } from "./router.js";
import { say } from "./strings.js";

/** @import { ApiClient } from "./api.js" */
/** @import { App } from "./app.js" */
/** @import { Router } from "./router.js" */
/** @import { SearchStore } from "./store.js" */
/** @import { Command, FoundReason } from "./commands.js" */
/** @import { Filter, Item, Session, SessionOptions, Verdict } from "./types.js" */

export class Actions {
  #host;
  #catalogChosen = false;
  #api;
  #store;
  #router;
  #app;

  /**
   * @param {HTMLElement} host
   * @param {ApiClient} api
   * @param {SearchStore} store
   * @param {Router | null} router
   * @param {App} app
   */
  constructor(host, api, store, router, app) {
    this.#host = host;
    this.#api = api;
    this.#store = store;
    this.#router = router;
    this.#app = app;
  }

  /** Start a new search, as the element says, but for what is asked. @param {SessionOptions} options @returns {Promise<Session | null>} */
  async start(options, push = true) {
    // What the element says of items may not hold in a catalog that somebody has chosen instead.
    this.#catalogChosen ||= options.catalog !== undefined;
    const chosen = this.#catalogChosen ? options : { ...this.#elementOptions(), ...options };
    const catalog = chosen.catalog ?? this.#store.session?.catalog;
    const pageSize = Number(this.#host.getAttribute("page-size"));
    const session = await this.#store.start({
      ...chosen,
      ...(catalog ? { catalog } : {}),
      ...(pageSize > 0 ? { page_size: pageSize } : {}),
    });
    if (!session) return null;
    this.#router?.write({ kind: "session", id: session.id }, push);
    this.emit("start", { session });
    return session;
  }

  /** How the element says that searches begin. @returns {SessionOptions} */
  #elementOptions() {
    const like = this.#host.getAttribute("like");
    try {
      return readOptions((name) => this.#host.getAttribute(name), like ? likeIds(like) : []);
    } catch {
      // Better all items than none; whoever made the site sees it at once.
      this.#app.notices.showAlert(say("problem.site-filter"));
      return {};
    }
  }

  /** Like or dislike an item; the same once more takes it back. @param {string} item @param {"like" | "dislike"} verdict */
  rate(item, verdict) {
    this.click(item, this.#store.verdict(item) === verdict ? "clear" : verdict);
  }

  /** @param {string} item @param {Verdict} verdict */
  click(item, verdict) {
    if (this.#store.readOnly) return;
    const { grid, notices, panel } = this.#app;
    notices.showAlert("");
    const face = grid.cardElement(item)?.querySelector(".face");
    if (face && verdict !== "clear") {
      panel.trays.setOrigin(item, face.getBoundingClientRect());
      pulse(panel.more);
    }
    this.#store.dispatch(commands.click(item, verdict, grid.itemsAround(item)));
  }

  /** Look for more like a picture of one's own. @param {Blob} file */
  async likeExample(file) {
    this.#app.notices.showAlert("");
    const { session, readOnly } = this.#store;
    if (!session || readOnly) return;
    const picture = await shrinkPicture(file);
    // The search may have been left while the picture was made smaller.
    if (this.#store.session?.id === session.id) this.#store.dispatch(commands.likeExample(picture));
  }

  /** Start a new search for more like an item; the filters stay. @param {Item} item */
  moreLike({ id }) {
    const { filter } = this.#store.inputs;
    this.start({ like: [id], query: undefined, filter: filter ?? undefined });
  }

  /** End the search with the item that was looked for. @param {string} item @param {FoundReason} [reason] */
  finish(item, reason) {
    this.#store.dispatch(commands.finish(item, reason));
  }

  /** Tell the site what has happened. @param {Command} command @param {Session} session */
  tell({ path, body }, session) {
    const { shown: _, ...event } = body;
    const title =
      body.item === undefined ? {} : { title: this.#store.items.get(session.catalog, body.item).title };
    this.emit(path === "clicks" ? "click" : path === "examples" ? "example" : path, {
      session,
      ...event,
      ...title,
    });
  }

  /** Go so many steps back, below zero, or forward again. @param {number} steps */
  travel(steps) {
    this.#store.dispatch(commands.travel(steps));
  }

  /** Words begin a search, or go into the one under way. @param {string} text */
  say(text) {
    const { session } = this.#store;
    if (!session) return;
    const isNew = session.history.length === 0 && !session.query;
    if (isNew) this.start({ query: text, ...(session.filter ? { filter: session.filter } : {}) });
    else this.#store.dispatch(commands.say(text));
  }

  /** Offer a link to what is on screen now. */
  async share() {
    const { ref, readOnly } = this.#store;
    if (!ref) return;
    const token = readOnly ? ref.id : await this.valueOrNull(this.#api.share(ref));
    if (token) this.#app.shareDialog.open(sessionUrl({ kind: "shared", id: token }));
  }

  /** Go on from a search that somebody else has shared. */
  async fork() {
    const session = await this.#store.fork();
    if (session) this.#router?.write({ kind: "session", id: session.id }, true);
  }

  /** How many seconds a search has taken, if that can be known. @returns {Promise<number | null>} */
  async seconds() {
    const { ref, readOnly } = this.#store;
    if (!ref || readOnly) return null;
    const times = await this.valueOrNull(this.#api.times(ref));
    return times && times.active - times.began;
  }

  /** Tell the site around us. @param {string} name @param {object} detail */
  emit(name, detail) {
    this.#host.dispatchEvent(new CustomEvent(`seeker:${name}`, { bubbles: true, composed: true, detail }));
  }

  /**
   * Wait for something; null if the search is left meanwhile, or if it is refused, which is said.
   *
   * @template Value
   * @param {Promise<Value>} promise
   * @returns {Promise<Value | null>}
   */
  async valueOrNull(promise) {
    try {
      return await promise;
    } catch (error) {
      const aborted = error instanceof DOMException && error.name === "AbortError";
      if (!aborted) this.#app.notices.showAlert(errorMessage(error));
      return null;
    }
  }
}

/** How the address of a page of our own says that its first search begins. @returns {SessionOptions} */
export function addressOptions() {
  const address = new URLSearchParams(location.search);
  try {
    return readOptions((name) => address.get(name), address.getAll("like"));
  } catch {
    return {};
  }
}

/** @param {(name: string) => string | null} value @param {string[]} like @returns {SessionOptions} */
function readOptions(value, like) {
  const [catalog, query, filter] = [value("catalog"), value("query"), value("filter")];
  return {
    ...(catalog ? { catalog } : {}),
    ...(query ? { query } : {}),
    ...(filter ? { filter: /** @type {Filter} */ (JSON.parse(filter)) } : {}),
    ...(like.length ? { like } : {}),
  };
}

/** @param {string} attribute an id, or several as a list in JSON @returns {string[]} */
function likeIds(attribute) {
  try {
    const ids = JSON.parse(attribute);
    if (Array.isArray(ids)) return ids.map(String);
  } catch {
    // An id may look like anything.
  }
  return [attribute];
}
