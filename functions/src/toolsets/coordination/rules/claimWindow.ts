/** Shares queries for claimable tasks between the claims of one instance. Source: docs/decisions/0002-task-queue.md. */
import type { Versioned } from '../../../kernel/commit.ts';
import { Batching } from '../../../kernel/concurrency.ts';
import { fittingItems } from '../../../kernel/json.ts';
import type { Task } from './task.ts';

/** Maximum number of claims that share one query. */
const MAX_CALLS_PER_WINDOW = 100;

/** Number of tasks that the first query reads, and the maximum number that later queries read ahead. */
const FIRST_READ = 20;
const MAX_READ_AHEAD = 40;

/** Number of tasks left at which the next query begins, if as many were proposed, so that claims do not wait for it. */
const READ_AHEAD_AT = 8;

/** Maximum size of the tasks that a window keeps for later claims, relative to that of a response. */
const MAX_KEPT_SHARE = 4;

interface WindowCall {
  /** Growth of the session when the claim read it; undefined if unknown. */
  readonly growth: string | undefined;
  /** Whether the call needs no task, but reads ahead for later claims. */
  readonly isAhead?: boolean;
}

/**
 * Proposes tasks from the front of the queue to the claims of one instance, a different one to each. As long as the
 * queue has not grown, the next tasks of a query serve later claims. The commit of a claim decides whether the claim
 * succeeds. If another instance was faster, the remaining tasks are probably outdated too and are read again.
 */
export class ClaimWindow {
  private readonly claimable: (limit: number) => Promise<readonly Versioned<Task>[]>;
  private readonly calls = new Batching<WindowCall, Versioned<Task> | undefined>(
    (calls) => this.read(calls),
    MAX_CALLS_PER_WINDOW,
  );
  /** Tasks that were read and not proposed yet. While the session has this `growth`, no other task precedes them. */
  private kept: readonly Versioned<Task>[] = [];
  private growth: string | undefined;
  /** Whether the queue had further tasks after those of the last query, which no other query is reading. */
  private hasMore = false;
  /** Number of tasks proposed since the last query began. The next query reads twice as many. */
  private proposed = FIRST_READ / 2;
  /** Proposed tasks whose claim is not committed yet. A query can still return them as claimable. */
  private readonly assigned = new Set<string>();
  /** Tasks that were claimed while a query was running. Its result can still contain them. */
  private readonly claimedSinceRead = new Set<string>();

  /** @param claimable returns the first claimable tasks, in the order of the queue */
  constructor(claimable: (limit: number) => Promise<readonly Versioned<Task>[]>) {
    this.claimable = claimable;
  }

  /**
   * Returns the next claimable task, if any. The caller must pass its id to `finish` after the claim.
   * @param growth of the session when the claim read it; undefined if unknown
   */
  async next(growth: string | undefined): Promise<Versioned<Task> | undefined> {
    const task = this.proposeAt(growth);
    if (task === undefined) return this.calls.add({ growth });
    if (this.hasMore && this.kept.length <= READ_AHEAD_AT && this.proposed >= READ_AHEAD_AT) {
      this.hasMore = false;
      // If the query fails, a later claim repeats it and reports the error.
      this.calls.add({ growth, isAhead: true }).catch(() => undefined);
    }
    return task;
  }

  finish(taskId: string, outcome: 'claimed' | 'refused'): void {
    this.assigned.delete(taskId);
    if (outcome === 'claimed') this.claimedSinceRead.add(taskId);
    else this.kept = [];
  }

  private async read(calls: readonly WindowCall[]): Promise<(place: number) => Versioned<Task> | undefined> {
    // The query for the previous calls can have found enough tasks for these calls too.
    const before = calls.map(({ growth, isAhead }) => (isAhead ? undefined : this.proposeAt(growth)));
    const waiting = calls.filter(({ isAhead }, place) => !isAhead && before[place] === undefined);
    const isNeeded = ({ growth, isAhead }: WindowCall) => isAhead && growth === this.growth && !this.hasMore;
    const last = waiting.at(-1) ?? calls.find(isNeeded);
    if (last === undefined) return (place) => before[place];
    const { growth } = last;
    const ahead = growth === undefined ? 0 : Math.min(MAX_READ_AHEAD, 2 * this.proposed);
    const left = growth === this.growth ? this.kept.length : 0;
    this.proposed = 0;
    this.claimedSinceRead.clear();
    const limit = Math.max(waiting.length, ahead) + left + this.assigned.size;
    const found = await this.claimable(limit);
    this.hasMore = found.length === limit;
    this.kept = found.filter(({ value: { id } }) => !this.assigned.has(id) && !this.claimedSinceRead.has(id));
    const proposed = calls.map(({ isAhead }, place) => before[place] ?? (isAhead ? undefined : this.propose()));
    this.kept = fittingItems(this.kept, ({ value }) => value, MAX_KEPT_SHARE);
    this.growth = growth;
    return (place) => proposed[place];
  }

  /** Proposes a kept task if the queue has not grown since it was read. */
  private proposeAt(growth: string | undefined): Versioned<Task> | undefined {
    return growth !== undefined && growth === this.growth ? this.propose() : undefined;
  }

  private propose(): Versioned<Task> | undefined {
    const [task, ...others] = this.kept;
    if (task === undefined) return undefined;
    this.kept = others;
    this.proposed += 1;
    this.assigned.add(task.value.id);
    return task;
  }
}
