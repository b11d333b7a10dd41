// Whether something takes so long that people should be told.

const LONG = 2500;

export class Slowness {
  /** Whether what is under way is slow. */
  slow = false;
  #timer = 0;
  #tell;

  /** @param {() => void} tell called when it becomes slow */
  constructor(tell) {
    this.#tell = tell;
  }

  begin() {
    this.end();
    this.#timer = setTimeout(() => {
      this.slow = true;
      this.#tell();
    }, LONG);
  }

  end() {
    clearTimeout(this.#timer);
    this.slow = false;
  }
}
