/** A map with a most of entries: one more displaces the one that was set first. An instance has other things to remember. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #most: number;

  constructor(most: number) {
    super();
    this.#most = most;
  }

  /** Puts the entry last, also where the key was there. */
  override set(key: Key, value: Value): this {
    this.delete(key);
    const [oldest] = this.keys();
    if (this.size >= this.#most && oldest !== undefined) this.delete(oldest);
    return super.set(key, value);
  }
}
