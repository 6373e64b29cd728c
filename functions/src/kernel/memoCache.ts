/** A map with a maximum size. Adding an entry evicts the oldest one. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  private readonly most: number;

  constructor(most: number) {
    super();
    this.most = most;
  }

  /** Sets the entry and makes it the newest, even if the key exists. */
  override set(key: Key, value: Value): this {
    this.delete(key);
    const [oldest] = this.keys();
    if (this.size >= this.most && oldest !== undefined) this.delete(oldest);
    return super.set(key, value);
  }
}

/** Maximum number of cached results, and of JSON characters per result. They limit an instance's memory. */
const MAX_KEPT = 16;
const MAX_CHARACTERS = 300_000;

/** Cache of read results. A result is valid for one state stamp; concurrent calls share one read. */
export class MemoCache<Value> {
  private readonly kept = new BoundedMap<string, { readonly stamp: string; readonly value: Promise<Value> }>(
    MAX_KEPT,
  );

  /** @param stamp identifies the state; a different stamp invalidates earlier results */
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
