// How far somebody has looked around in a ranking, for a reload or their way back.

/** @import { Address } from "./address.js" */
/** @import { Search } from "./search.js" */
/** @import { Session } from "./types.js" */

/** @typedef {{id: string, step: number, open: boolean, top: number}} Looked */

const PAUSE = 200;

export class Whereabouts {
  #address;
  #timer = 0;
  /** The session that was shown last: only one that is new here is come back to. */
  #shown = "";

  /** @param {Address | null} address where it is kept */
  constructor(address) {
    this.#address = address;
  }

  /** Where somebody was when they left this session at this step. @param {Session} session @returns {Looked | null} */
  recall({ id, step }) {
    const back = id !== this.#shown;
    this.#shown = id;
    const looked = this.#address?.looked() ?? null;
    // A search that has just begun has no address of its own yet: what is kept there is of the one before.
    return back && looked?.id === id && looked.step === step ? looked : null;
  }

  /** @param {Search} search @param {boolean} open whether the whole ranking can be scrolled through */
  note(search, open) {
    clearTimeout(this.#timer);
    const { answer } = search;
    this.#timer = setTimeout(() => {
      if (!answer || answer !== search.answer || search.phase !== "ready") return;
      this.#address?.remember({ id: answer.id, step: answer.step, open, top: scrollY });
    }, PAUSE);
  }

  close() {
    clearTimeout(this.#timer);
  }
}
