/** What GitHub has answered, with its ETags, as far as there is room. */

/** Of all that an instance keeps, and of one answer, in bytes at most. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** What a character may take in memory. */
const BYTES_PER_CHARACTER = 2;

interface Known {
  readonly etag: string;
  /** As JSON, so that nobody changes it and its size is known. */
  readonly json: string;
}

export class KnownAnswers {
  private readonly kept = new Map<string, Known>();
  private bytes = 0;

  find(name: string): Known | undefined {
    return this.kept.get(name);
  }

  /** Keeps an answer as the latest, and drops those that were used longest ago where there is no room. */
  keep(name: string, etag: string, json: string): void {
    this.drop(name);
    const size = json.length * BYTES_PER_CHARACTER;
    if (size > MAX_ANSWER_BYTES) return;
    this.kept.set(name, { etag, json });
    this.bytes += size;
    for (const oldest of this.kept.keys()) {
      if (this.bytes <= MAX_BYTES) return;
      this.drop(oldest);
    }
  }

  private drop(name: string): void {
    const known = this.kept.get(name);
    if (known === undefined) return;
    this.bytes -= known.json.length * BYTES_PER_CHARACTER;
    this.kept.delete(name);
  }
}
