/** The head of the queue in the memory of an instance. Source: docs/decisions/0002-claim-window.md. */
import type { Versioned } from '../../../kernel/commit.ts';
import type { Task } from './task.ts';

/** How many tasks one query reads ahead at most, beyond what the waiting calls need. */
const MOST_AHEAD = 10;

interface Waiting {
  readonly queueVersion: number;
  readonly resolve: (task: Versioned<Task> | undefined) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * The head of the queue as one instance last read it. Calls that claim at the same time share one query and
 * are dealt different tasks, and the rest of a query serves later calls, for as long as the session's queue
 * version says that nothing has become claimable since. A window only proposes: the commit decides. It reads ahead only
 * where what it reads is used: in a queue that grows all the time the next claim would throw it away.
 */
export class ClaimWindow {
  private readonly claimable: (limit: number) => Promise<readonly Versioned<Task>[]>;
  private candidates: Versioned<Task>[] = [];
  private queueVersion = -1;
  /** Whether the last query found fewer tasks than it asked for: the window then holds all there are. */
  private complete = false;
  private waiting: Waiting[] = [];
  private reading = false;
  private ahead = 0;
  /** Tasks dealt out whose commit is under way: a query may still find them claimable. */
  private readonly dealt = new Set<string>();
  /** Tasks claimed while a query is under way, which may still list them. */
  private readonly claimedMeanwhile = new Set<string>();

  /** @param claimable finds the first tasks of the queue that may be dealt */
  constructor(claimable: (limit: number) => Promise<readonly Versioned<Task>[]>) {
    this.claimable = claimable;
  }

  /**
   * Deals the next task, or undefined where nothing is claimable. The caller gives it back with `finish`.
   * @param queueVersion the session's, as the caller has just read it
   */
  next(queueVersion: number): Promise<Versioned<Task> | undefined> {
    if (queueVersion <= this.queueVersion) {
      const candidate = this.deal();
      if (candidate !== undefined || this.complete) return Promise.resolve(candidate);
    }
    return new Promise((resolve, reject) => {
      this.waiting.push({ queueVersion, resolve, reject });
      void this.read();
    });
  }

  /** Ends the dealing of a task. Where its commit was refused the window is out of date and is read anew. */
  finish(taskId: string, outcome: 'claimed' | 'refused'): void {
    this.dealt.delete(taskId);
    if (outcome === 'refused') this.forget();
    else if (this.reading) this.claimedMeanwhile.add(taskId);
  }

  private forget(): void {
    this.candidates = [];
    this.queueVersion = -1;
    this.complete = false;
  }

  private deal(): Versioned<Task> | undefined {
    let task = this.candidates.shift();
    while (task && this.dealt.has(task.value.id)) task = this.candidates.shift();
    if (task) this.dealt.add(task.value.id);
    return task;
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
        const queueVersion = Math.min(...served.map((call) => call.queueVersion));
        this.ahead = queueVersion > this.queueVersion ? 0 : Math.min(MOST_AHEAD, 2 * this.ahead + 2);
        const limit = served.length + this.dealt.size + this.ahead;
        const found = await this.claimable(limit);
        this.candidates = found.filter((task) => !this.claimedMeanwhile.has(task.value.id));
        this.complete = found.length < limit;
        this.queueVersion = queueVersion;
        for (const call of served) call.resolve(this.deal());
      } catch (error) {
        this.forget();
        for (const call of served) call.reject(error);
      }
    }
    this.reading = false;
  }
}
