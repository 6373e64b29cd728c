/** Joins the frames of messages. The SDKs split a long message into frames, and send the number of frames first. */
export class Frames {
  #missing = 0;
  #collected: string[] = [];

  /** Adds a frame. Returns the message if the frame completes it. The keep-alive `0` is not a message. */
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
