// Which session the page shows, and how far it is scrolled, in the browser's history: a reload, back
// and forward all lead to it.

/** @import { SearchStore } from "./store.js" */
/** @import { Session, SessionRef } from "./types.js" */

/** expanded: whether the whole ranking can be scrolled through. @typedef {{id: string, step: number, expanded: boolean, top: number}} ScrollState */

const HASH = /^#(session|shared)=([A-Za-z0-9_-]{22,64})$/;
const SAVE_DELAY_MS = 200;

/** There is one address, so one search of a document keeps it; any others do without. @type {Router | null} */
let owner = null;

/** @param {SessionRef} ref @returns {string} where it can be opened */
export function sessionUrl({ kind, id }) {
  const url = new URL(location.href);
  url.hash = `${kind}=${id}`;
  return url.href;
}

export class Router {
  #abort = new AbortController();
  #restoration = history.scrollRestoration;
  #isOwner;

  /** @param {(ref: SessionRef | null) => void} onNavigate called when somebody goes back or forward */
  constructor(onNavigate) {
    this.#isOwner = owner === null;
    if (!this.#isOwner) return;
    owner = this;
    // We know better when there is something to scroll to.
    history.scrollRestoration = "manual";
    addEventListener("popstate", () => onNavigate(this.read()), { signal: this.#abort.signal });
  }

  close() {
    this.#abort.abort();
    if (owner !== this) return;
    owner = null;
    history.scrollRestoration = this.#restoration;
  }

  /** @returns {SessionRef | null} */
  read() {
    if (!this.#isOwner) return null;
    const match = HASH.exec(location.hash);
    if (match) return { kind: match[1] === "shared" ? "shared" : "session", id: match[2] ?? "" };
    return history.state?.seeker?.ref ?? null;
  }

  /** @param {SessionRef} ref @param {boolean} push whether it is a new page to go back from */
  write(ref, push) {
    if (!this.#isOwner) return;
    const state = { ...history.state, seeker: { ref } };
    // An address with another anchor belongs to the site that shows us.
    const url = location.hash === "" || HASH.test(location.hash) ? sessionUrl(ref) : location.href;
    if (push) history.pushState(state, "", url);
    else history.replaceState(state, "", url);
  }

  /** @returns {ScrollState | null} */
  get scrollState() {
    return (this.#isOwner && history.state?.seeker?.scroll) || null;
  }

  set scrollState(scroll) {
    if (!this.#isOwner || !history.state?.seeker) return;
    history.replaceState({ ...history.state, seeker: { ...history.state.seeker, scroll } }, "");
  }
}

/** How far somebody has looked around in a ranking, for a reload or their way back. */
export class ScrollPosition {
  #router;
  #timer = 0;
  /** The session that was on screen last: only one that is new here is come back to. */
  #session = "";

  /** @param {Router | null} router where it is kept */
  constructor(router) {
    this.#router = router;
  }

  /** Where somebody was when they left this session at this step. @param {Session} session @returns {ScrollState | null} */
  recall({ id, step }) {
    const returning = id !== this.#session;
    this.#session = id;
    const scroll = this.#router?.scrollState ?? null;
    // A search that has just begun has no address of its own yet: what is kept there is of the one before.
    return returning && scroll?.id === id && scroll.step === step ? scroll : null;
  }

  /** @param {SearchStore} store @param {boolean} expanded whether the whole ranking can be scrolled through */
  save(store, expanded) {
    clearTimeout(this.#timer);
    const { session } = store;
    this.#timer = setTimeout(() => {
      if (!session || session !== store.session || store.phase !== "ready") return;
      if (this.#router)
        this.#router.scrollState = { id: session.id, step: session.step, expanded, top: scrollY };
    }, SAVE_DELAY_MS);
  }

  close() {
    clearTimeout(this.#timer);
  }
}
