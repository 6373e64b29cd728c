/** Returns a function that creates the value when it is first called. */
export function lazy<Value extends object | string | undefined>(create: () => Value): () => Value {
  let made: Value | undefined;
  return () => (made ??= create());
}

/** Returns a function that loads the value when it is first called. After a failure, the next call loads it again. */
export function loadedOnce<Value extends object>(load: () => Promise<Value>): () => Value | Promise<Value> {
  let loaded: Value | Promise<Value> | undefined;
  const forget = (error: unknown) => {
    loaded = undefined;
    throw error;
  };
  return () => (loaded ??= load().then((value) => (loaded = value), forget));
}

/** A map with a maximum number of entries. If it is full, adding an entry evicts the oldest entry. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  private readonly maxEntries: number;

  constructor(max: number) {
    super();
    this.maxEntries = max;
  }

  /** Sets the entry. It becomes the newest entry, even if the key already existed. */
  override set(key: Key, value: Value): this {
    this.delete(key);
    const [oldest] = this.keys();
    if (this.size >= this.maxEntries && oldest !== undefined) this.delete(oldest);
    return super.set(key, value);
  }
}

/** Maximum number of cached results, and of JSON characters in each, so that the cache uses little memory. */
const MAX_ENTRIES = 16;
const MAX_CHARACTERS = 300_000;

/** Cache of read results. A result is valid as long as its stamp stays the same. Concurrent calls share one read. */
export class MemoCache<Value> {
  private readonly entries = new BoundedMap<string, { readonly stamp: string; readonly value: Promise<Value> }>(
    MAX_ENTRIES,
  );

  /** @param stamp identifies the state of the data; results with another stamp are read again */
  async read(key: string, stamp: string, read: () => Promise<Value>): Promise<Value> {
    const known = this.entries.get(key);
    if (known?.stamp === stamp) return known.value;
    const reading = { stamp, value: read() };
    this.entries.set(key, reading);
    const isWorthKeeping = await reading.value.then(
      (value) => (JSON.stringify(value)?.length ?? 0) <= MAX_CHARACTERS,
      () => false,
    );
    if (!isWorthKeeping && this.entries.get(key) === reading) this.entries.delete(key);
    return reading.value;
  }
}
