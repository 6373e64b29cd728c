/** The SDKs cut long messages into frames: a bare number says how many follow. */
export class Frames {
  #missing = 0;
  #collected: string[] = [];

  /** The whole message, once it is there. `0` is the keep-alive, which is none. */
  add(frame: string): string | undefined {
    if (this.#missing === 0) {
      if (!/^\d{1,6}$/.test(frame)) return frame;
      this.#missing = Number(frame);
      this.#collected = [];
      return undefined;
    }
    this.#collected.push(frame);
    this.#missing -= 1;
    return this.#missing === 0 ? this.#collected.join('') : undefined;
  }
}
