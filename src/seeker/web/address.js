// Which search the page shows, kept in the address: a reload, back and forward all lead to it.

/** @import { Place } from "./types.js" */
/** @import { Looked } from "./whereabouts.js" */

const FORM = /^#(session|shared)=([A-Za-z0-9_-]{22,64})$/;

/** There is one address, so one search of a document keeps it; any others do without. @type {Address | null} */
let keeper = null;

/** @param {Place} place @returns {string} where it can be opened */
export function addressOf({ kind, id }) {
  const url = new URL(location.href);
  url.hash = `${kind}=${id}`;
  return url.href;
}

export class Address {
  #leave = new AbortController();
  #restoration = history.scrollRestoration;

  /** @param {(place: Place | null) => void} arrive called when somebody goes back or forward */
  constructor(arrive) {
    this.owned = keeper === null;
    if (!this.owned) return;
    keeper = this;
    // We know better when there is something to scroll to.
    history.scrollRestoration = "manual";
    addEventListener("popstate", () => arrive(this.read()), { signal: this.#leave.signal });
  }

  close() {
    this.#leave.abort();
    if (keeper !== this) return;
    keeper = null;
    history.scrollRestoration = this.#restoration;
  }

  /** @returns {Place | null} */
  read() {
    if (!this.owned) return null;
    const match = FORM.exec(location.hash);
    if (match) return { kind: match[1] === "shared" ? "shared" : "session", id: match[2] ?? "" };
    return history.state?.seeker?.place ?? null;
  }

  /** @param {Place} place @param {boolean} push whether it is a new page to go back from */
  write(place, push) {
    if (!this.owned) return;
    const state = { ...history.state, seeker: { place } };
    // An address with another anchor belongs to the site that shows us.
    const url = location.hash === "" || FORM.test(location.hash) ? addressOf(place) : location.href;
    if (push) history.pushState(state, "", url);
    else history.replaceState(state, "", url);
  }

  /** @returns {Looked | null} */
  looked() {
    return (this.owned && history.state?.seeker?.looked) || null;
  }

  /** @param {Looked} looked */
  remember(looked) {
    if (!this.owned || !history.state?.seeker) return;
    history.replaceState({ ...history.state, seeker: { ...history.state.seeker, looked } }, "");
  }
}
