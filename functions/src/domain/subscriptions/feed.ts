/** One reader's place in a log: what is there, and then what comes, for as long as it stays. */
import type { Entry, EventLog } from './log.ts';

export class Feed {
  private entries: Entry[] = [];
  private error: { readonly thrown: unknown } | undefined;
  private wake: (() => void) | undefined;
  private readonly unfollow: () => void;

  constructor(events: EventLog, log: string, from: number, seen: (entry: Entry) => void) {
    this.unfollow = events.follow(
      log,
      from,
      (entry) => {
        this.entries.push(entry);
        seen(entry);
        this.wake?.();
      },
      (error) => this.fail(error),
    );
  }

  fail(error: unknown): void {
    this.error ??= { thrown: error };
    this.wake?.();
  }

  /**
   * The entries that came since the last call; where there are none, waits for the first.
   * @param until ends the waiting
   * @throws what the feed failed with, after everything that came before
   */
  async next(until: Promise<unknown>): Promise<readonly Entry[]> {
    if (this.entries.length === 0 && this.error === undefined) {
      const woken = new Promise<void>((resolve) => {
        this.wake = resolve;
      });
      await Promise.race([woken, until]);
    }
    if (this.entries.length === 0 && this.error !== undefined) throw this.error.thrown;
    return this.entries.splice(0);
  }

  close(): void {
    this.unfollow();
  }
}
