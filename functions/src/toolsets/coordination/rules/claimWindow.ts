/** How claims that come at once share what they read of the queue. Source: docs/decisions/0002-claim-window.md. */
import type { Versioned } from '../../../kernel/commit.ts';
import type { Task } from './task.ts';

interface Waiting {
  readonly resolve: (task: Versioned<Task> | undefined) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * The head of the queue for the calls of one instance that claim at the same time: they share one query and are dealt
 * different tasks. What was read is not kept for later calls, which might overlook what has become claimable since. A
 * window only proposes: the commit decides.
 */
export class ClaimWindow {
  private readonly claimable: (limit: number) => Promise<readonly Versioned<Task>[]>;
  private waiting: Waiting[] = [];
  private reading = false;
  /** Tasks dealt out whose commit is under way: a query may still find them claimable. */
  private readonly dealt = new Set<string>();
  /** Tasks claimed while a query is under way, which may still list them. */
  private readonly claimedMeanwhile = new Set<string>();

  /** @param claimable finds the first tasks of the queue that may be dealt */
  constructor(claimable: (limit: number) => Promise<readonly Versioned<Task>[]>) {
    this.claimable = claimable;
  }

  /** Deals the next task, or undefined where nothing is claimable. The caller gives it back with `finish`. */
  next(): Promise<Versioned<Task> | undefined> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject });
      void this.read();
    });
  }

  /** Ends the dealing of a task. */
  finish(taskId: string, outcome: 'claimed' | 'refused'): void {
    this.dealt.delete(taskId);
    if (outcome === 'claimed' && this.reading) this.claimedMeanwhile.add(taskId);
  }

  /** Answers all calls that wait now with one query; calls that come meanwhile wait for the next. */
  private async read(): Promise<void> {
    if (this.reading) return;
    this.reading = true;
    while (this.waiting.length > 0) {
      const served = this.waiting;
      this.waiting = [];
      try {
        this.claimedMeanwhile.clear();
        const found = await this.claimable(served.length + this.dealt.size);
        const free = found.filter(
          ({ value: { id } }) => !this.dealt.has(id) && !this.claimedMeanwhile.has(id),
        );
        for (const [place, call] of served.entries()) {
          const task = free[place];
          if (task !== undefined) this.dealt.add(task.value.id);
          call.resolve(task);
        }
      } catch (error) {
        for (const call of served) call.reject(error);
      }
    }
    this.reading = false;
  }
}
