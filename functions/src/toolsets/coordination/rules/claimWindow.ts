/** How claims that come at once share what they read of the queue. Source: docs/decisions/0002-claim-window.md. */
import { Batching } from '../../../kernel/batching.ts';
import type { Versioned } from '../../../kernel/commit.ts';
import type { Task } from './task.ts';

/** How many claims one query serves at most. */
const MOST_SERVED = 100;

/**
 * The head of the queue for the calls of one instance that claim at the same time: they share one query and are dealt
 * different tasks. What was read is not kept for later calls, which might overlook what has become claimable since. A
 * window only proposes: the commit decides.
 */
export class ClaimWindow {
  private readonly claimable: (limit: number) => Promise<readonly Versioned<Task>[]>;
  private readonly calls = new Batching<void, Versioned<Task> | undefined>(
    (calls) => this.read(calls.length),
    MOST_SERVED,
  );
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
    return this.calls.add();
  }

  /** Ends the dealing of a task. */
  finish(taskId: string, outcome: 'claimed' | 'refused'): void {
    this.dealt.delete(taskId);
    if (outcome === 'claimed') this.claimedMeanwhile.add(taskId);
  }

  private async read(calls: number): Promise<(place: number) => Versioned<Task> | undefined> {
    this.claimedMeanwhile.clear();
    const found = await this.claimable(calls + this.dealt.size);
    const free = found.filter(({ value: { id } }) => !this.dealt.has(id) && !this.claimedMeanwhile.has(id));
    const dealt = free.slice(0, calls);
    for (const { value } of dealt) this.dealt.add(value.id);
    return (place) => dealt[place];
  }
}
