// Whether something takes so long that people should be told.

const LONG = 2500;

export class Slowness {
  /** Whether what is under way is slow. */
  slow = false;
  #timer = 0;
  #tell;

  /** @param {() => void} tell called when that changes */
  constructor(tell) {
    this.#tell = tell;
  }

  begin() {
    this.end();
    this.#timer = setTimeout(() => this.#set(true), LONG);
  }

  end() {
    clearTimeout(this.#timer);
    if (this.slow) this.#set(false);
  }

  /** @param {boolean} slow */
  #set(slow) {
    this.slow = slow;
    this.#tell();
  }
}
