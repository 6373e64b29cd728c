/** A map with a most of entries: one more displaces the one that was set first. An instance has other things to remember. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  private readonly most: number;

  constructor(most: number) {
    super();
    this.most = most;
  }

  /** Puts the entry last, also where the key was there. */
  override set(key: Key, value: Value): this {
    this.delete(key);
    const [oldest] = this.keys();
    if (this.size >= this.most && oldest !== undefined) this.delete(oldest);
    return super.set(key, value);
  }
}

/** How many readings are kept, and how long one may be as JSON: an instance has other things to remember. */
const MAX_KEPT = 16;
const MAX_CHARACTERS = 300_000;

/** Keeps what was read for as long as nothing can have changed. Calls at the same time share one reading. */
export class MemoCache<Value> {
  private readonly kept = new BoundedMap<string, { readonly stamp: string; readonly value: Promise<Value> }>(
    MAX_KEPT,
  );

  /** @param stamp of the state of things: another one makes an earlier reading worthless */
  async read(key: string, stamp: string, read: () => Promise<Value>): Promise<Value> {
    const known = this.kept.get(key);
    if (known?.stamp === stamp) return known.value;
    const reading = { stamp, value: read() };
    this.kept.set(key, reading);
    const isWorthKeeping = await reading.value.then(
      (value) => (JSON.stringify(value)?.length ?? 0) <= MAX_CHARACTERS,
      () => false,
    );
    if (!isWorthKeeping && this.kept.get(key) === reading) this.kept.delete(key);
    return reading.value;
  }
}
