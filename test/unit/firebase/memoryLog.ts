/** Event log in memory whose operations take as long as a test decides. */
import type { Checkpoint, Entry, EventLog, LoadedLog } from '../../../functions/src/toolsets/firebase/rules/ports.ts';
import type { State } from '../../../functions/src/toolsets/firebase/rules/transition.ts';

export class MemoryLog implements EventLog {
  readonly entries = new Map<number, Entry>();
  readonly checkpoints = new Map<number, Checkpoint>();
  /** Called with every entry, some time after the entry was appended. */
  reader: (entry: Entry) => void = () => undefined;
  private readonly delay: () => Promise<void>;

  /** @param delay awaited before each operation takes effect, and again before the operation returns */
  constructor(delay: () => Promise<void> = async () => undefined) {
    this.delay = delay;
  }

  async create(_log: string, state: State): Promise<void> {
    if (this.checkpoints.size > 0) return;
    this.checkpoints.set(0, { sequence: 0, state: new Map(state), kept: [] });
  }

  async exists(): Promise<boolean> {
    return this.checkpoints.size > 0;
  }

  async remove(): Promise<void> {
    this.entries.clear();
    this.checkpoints.clear();
  }

  async load(): Promise<LoadedLog | undefined> {
    await this.delay();
    const checkpoint = this.checkpoints.get(Math.max(-1, ...this.checkpoints.keys()));
    const entries = this.from((checkpoint?.sequence ?? 0) + 1);
    await this.delay();
    return checkpoint && { checkpoint, entries };
  }

  async append(_log: string, entry: Entry): Promise<boolean> {
    await this.delay();
    const isFree = !this.entries.has(entry.sequence);
    if (isFree) {
      this.entries.set(entry.sequence, entry);
      void this.delay().then(() => this.reader(entry));
    }
    await this.delay();
    return isFree;
  }

  async checkpoint(_log: string, checkpoint: Checkpoint): Promise<void> {
    const copy = { ...checkpoint, state: new Map(checkpoint.state) };
    await this.delay();
    this.checkpoints.set(checkpoint.sequence, copy);
  }

  async drop(_log: string, sequences: readonly number[]): Promise<void> {
    await this.delay();
    for (const sequence of sequences) this.entries.delete(sequence);
  }

  async read(_log: string, from: number, max: number): Promise<readonly Entry[]> {
    return this.from(from).slice(0, max);
  }

  async end(): Promise<number> {
    return Math.max(0, ...this.entries.keys(), ...this.checkpoints.keys());
  }

  follow(): () => void {
    throw new Error('Nobody follows this log.');
  }

  /** Returns the entries with this or a later sequence number, in order. */
  from(sequence: number): Entry[] {
    return [...this.entries.values()]
      .filter((entry) => entry.sequence >= sequence)
      .sort((one, other) => one.sequence - other.sequence);
  }
}
