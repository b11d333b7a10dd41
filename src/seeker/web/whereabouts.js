// How far somebody has looked around in a ranking, for a reload or their way back.

/** @import { Address } from "./address.js" */
/** @import { Search } from "./search.js" */
/** @import { Session } from "./types.js" */

/** @typedef {{step: number, open: boolean, top: number}} Looked */

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
    return back && looked?.step === step ? looked : null;
  }

  /** @param {Search} search @param {boolean} open whether the whole ranking can be scrolled through */
  note(search, open) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const { answer, phase } = search;
      if (answer && phase === "ready") this.#address?.remember({ step: answer.step, open, top: scrollY });
    }, PAUSE);
  }

  close() {
    clearTimeout(this.#timer);
  }
}
