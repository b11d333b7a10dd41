// The state of one search: the session as the service last answered it, and what is under way.
//
// What has been done is shown at once; if the service refuses it, it is taken back with a sentence;
// if the service cannot be reached, it is kept and sent again.

import { ITEM_GONE, RefusedError, createIdempotencyKey, errorMessage } from "./api.js";
import { NO_INPUTS, PendingCommands } from "./commands.js";
import { Retry, SlowTimer, pollBelief } from "./retry.js";
import { say } from "./strings.js";

/** @import { ApiClient } from "./api.js" */
/** @import { Command, Inputs } from "./commands.js" */
/** @import { Formats, Item, Session, SessionOptions, SessionRef } from "./types.js" */

/** Tells of every change by the event "change"; of a new session by "session", of a command that was done by "confirm", of a refusal by "refusal". */
export class SearchStore extends EventTarget {
  /** @type {"loading" | "ready" | "gone" | "failed"} */
  phase = "loading";
  /** @type {Session | null} */
  session = null;
  /** @type {SessionRef | null} */
  ref = null;
  /** Why there is nothing to show, in words. */
  error = "";
  items;
  /** How the catalog wants attributes shown. @type {Formats} */
  formats = {};

  #pending = new PendingCommands();
  #working = false;
  /** The session that was told of last. @type {Session | null} */
  #published = null;
  /** Ends whatever is under way for the session that is open. */
  #abort = new AbortController();
  #retry = new Retry(() => this.#changed());
  #slowTimer = new SlowTimer(() => this.#changed());
  #api;
  #plain;

  /** @param {ApiClient} api @param {boolean} plain whether the belief is of no interest */
  constructor(api, plain) {
    super();
    this.#api = api;
    this.#plain = plain;
    this.items = new ItemCache(
      (catalog, id) => this.request(() => api.item(catalog, id)),
      () => this.#changed(),
    );
  }

  get busy() {
    return this.#working || !this.#pending.isEmpty;
  }

  /** Whether the person has done something that the service does not know of yet. */
  get hasPending() {
    return !this.#pending.isEmpty;
  }

  /** Why the service cannot be reached, or nothing. */
  get connectionError() {
    return this.#retry.error;
  }

  get slow() {
    return this.#slowTimer.slow;
  }

  get readOnly() {
    return this.ref?.kind === "shared";
  }

  /** What is in effect as the person sees it already, commands under way included. @returns {Inputs} */
  get inputs() {
    return this.#pending.predict(this.session ?? NO_INPUTS);
  }

  /** @param {string} item @returns {"like" | "dislike" | null} */
  verdict(item) {
    const { likes, dislikes } = this.inputs;
    if (likes.includes(item)) return "like";
    return dislikes.includes(item) ? "dislike" : null;
  }

  /** An item by its id; one that was never seen here is fetched, and told of when it is there. @param {string} id */
  item(id) {
    return this.items.get(this.session?.catalog ?? "", id);
  }

  /** @param {Formats} formats */
  setFormats(formats) {
    this.formats = formats;
    this.#changed();
  }

  /** @param {SessionRef} ref */
  open(ref) {
    return this.#load(ref, () => this.#api.session(ref));
  }

  /** @param {SessionOptions} options */
  start(options) {
    const key = createIdempotencyKey();
    return this.#load(null, () => this.#api.createSession(options, key));
  }

  /** Go on from a session that can only be read. */
  fork() {
    const { ref } = this;
    if (!ref) return Promise.resolve(null);
    const key = createIdempotencyKey();
    return this.#load(null, () => this.#api.fork(ref, key));
  }

  /** Leave everything: nothing more will be told or asked. */
  close() {
    this.#abort.abort();
    this.#slowTimer.stop();
    this.#pending.clear();
    this.retry();
  }

  /** @param {Command} command @param {(session: Session) => void} [onConfirm] called once the service has confirmed it */
  dispatch(command, onConfirm) {
    if (!this.session || this.readOnly || this.phase !== "ready") return;
    this.#pending.add(command, (session) => {
      onConfirm?.(session);
      this.dispatchEvent(new CustomEvent("confirm", { detail: { command, session } }));
    });
    this.#changed();
    if (!this.#working) this.#flush();
  }

  /** Ask again at once for what could not be reached. */
  retry() {
    this.#retry.now();
  }

  /** Take in where the session is now. */
  async reload() {
    const { ref } = this;
    if (ref && !this.#working) await this.open(ref);
  }

  /**
   * Ask until there is an answer, however long the service is away.
   *
   * @template Value
   * @param {() => Promise<Value>} call
   * @param {AbortSignal} [signal] ends the asking; without one, leaving the session does
   * @returns {Promise<Value>}
   */
  request(call, signal = this.#abort.signal) {
    return this.#retry.run(call, signal);
  }

  /**
   * @param {SessionRef | null} ref
   * @param {() => Promise<Session>} call
   * @returns {Promise<Session | null>}
   */
  async #load(ref, call) {
    this.close();
    const { signal } = (this.#abort = new AbortController());
    this.phase = "loading";
    this.ref = ref;
    this.#startWork();
    this.#changed();
    try {
      const session = await this.request(call, signal);
      this.ref = ref?.kind === "shared" ? ref : { kind: "session", id: session.id };
      this.phase = "ready";
      this.#endWork();
      this.#publish(session);
      return session;
    } catch (error) {
      if (signal.aborted) return null;
      this.phase = error instanceof RefusedError && error.status === 404 && ref ? "gone" : "failed";
      this.error = errorMessage(error);
      this.#endWork();
      this.#changed();
      return null;
    }
  }

  async #flush() {
    const { signal } = this.#abort;
    this.#startWork();
    try {
      await this.#pending.flush(
        (command, idempotencyKey) => {
          const session = /** @type {Session} */ (this.session);
          return this.request(() => this.#api.send(session, command, idempotencyKey), signal);
        },
        (session) => this.#confirm(session),
        (refusal) => this.#revert(refusal),
      );
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      if (!signal.aborted) {
        this.#endWork();
        this.#changed();
      }
    }
  }

  #startWork() {
    this.#working = true;
    this.#slowTimer.start();
  }

  #endWork() {
    this.#working = false;
    this.#slowTimer.stop();
  }

  /** @param {Session} session */
  #confirm(session) {
    this.session = session;
    // What waits was done on the page before: only the last answer is worth painting.
    if (this.#pending.isEmpty) this.#publish(session);
  }

  /** @param {RefusedError} refusal */
  #revert(refusal) {
    const { session, ref } = this;
    if (refusal.session) {
      // What was done after it was done on a page that is no more.
      this.#pending.clear();
      this.#publish(refusal.session);
    } else if ((refusal.status === 404 || refusal.status === ITEM_GONE) && ref) {
      // The item or the whole session is no longer there: opening it again tells where it is now.
      this.open(ref);
    } else if (session && session !== this.#published && this.#pending.isEmpty) {
      this.#publish(session);
    }
    this.#changed();
    this.dispatchEvent(new CustomEvent("refusal", { detail: refusal }));
  }

  /** @param {Session} session */
  #publish(session) {
    this.session = session;
    this.#published = session;
    this.items.add(session.catalog, [...session.page.items, ...session.examples]);
    this.dispatchEvent(new CustomEvent("session", { detail: session }));
    this.#changed();
    if (!session.belief && !this.#plain) this.#awaitBelief(session);
  }

  /** @param {Session} session one whose belief is still being computed */
  async #awaitBelief(session) {
    const { ref } = this;
    const { signal } = this.#abort;
    if (!ref) return;
    const isCurrent = () => !signal.aborted && this.session === session;
    session.belief = await pollBelief(session, () => this.#api.session(ref), isCurrent);
    if (session.belief) this.#changed();
  }

  #changed() {
    this.dispatchEvent(new CustomEvent("change"));
  }
}

/** All items that were seen here, of whichever catalog. */
export class ItemCache {
  /** By catalog and id. @type {Map<string, Item>} */
  #items = new Map();
  #fetch;
  #onArrival;

  /**
   * @param {(catalog: string, id: string) => Promise<Item>} fetch
   * @param {() => void} onArrival called when an item that had to be fetched has come
   */
  constructor(fetch, onArrival) {
    this.#fetch = fetch;
    this.#onArrival = onArrival;
  }

  /** @param {string} catalog @param {Item[]} items */
  add(catalog, items) {
    for (const item of items) this.#items.set(cacheKey(catalog, item.id), item);
  }

  /** An item; one that was never seen here is fetched, and stood in for until it comes. @param {string} catalog @param {string} id @returns {Item} */
  get(catalog, id) {
    const item = this.#items.get(cacheKey(catalog, id));
    if (item) return item;
    const placeholder = { id, title: say("card.loading"), media: null, attributes: {} };
    this.add(catalog, [placeholder]);
    this.#load(catalog, id);
    return placeholder;
  }

  /** @param {string} catalog @param {string} id */
  async #load(catalog, id) {
    try {
      this.add(catalog, [await this.#fetch(catalog, id)]);
    } catch (error) {
      // The search may have been left, and the item is of no interest until somebody comes back.
      if (!(error instanceof RefusedError)) return void this.#items.delete(cacheKey(catalog, id));
      // It has left the catalog: its id must do.
      this.add(catalog, [{ id, title: "", media: null, attributes: {} }]);
    }
    this.#onArrival();
  }
}

/** @param {string} catalog @param {string} id */
const cacheKey = (catalog, id) => JSON.stringify([catalog, id]);
