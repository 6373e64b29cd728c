/**
 * The head of the queue as one instance last read it. Calls that claim at the same time share one query and
 * are dealt different tasks, and the rest of a query serves later calls, for as long as the session's queue
 * version says that nothing has become claimable since. A window only proposes: the commit decides.
 */
import { foldedCapability } from '../../../access/rules/agent.ts';
import type { Versioned } from '../../../kernel/commit.ts';
import type { TaskReader } from '../store/tasks.ts';
import type { Task } from './task.ts';

/** How many tasks one query reads ahead, beyond what the waiting calls need. */
const READ_AHEAD = 10;

interface Waiting {
  readonly queueVersion: number;
  readonly resolve: (task: Versioned<Task> | undefined) => void;
  readonly reject: (reason: unknown) => void;
}

export class ClaimWindow {
  private readonly tasks: TaskReader;
  private readonly session: string;
  private readonly capabilityKeys: readonly string[];
  private readonly type: string | undefined;
  private candidates: Versioned<Task>[] = [];
  private queueVersion = -1;
  /** Whether the last query found fewer tasks than it asked for: the window then holds all there are. */
  private complete = false;
  private waiting: Waiting[] = [];
  private reading = false;
  /** Tasks dealt out whose commit is under way: a query may still find them claimable. */
  private readonly dealt = new Set<string>();
  /** Tasks claimed while a query is under way, which may still list them. */
  private readonly claimedMeanwhile = new Set<string>();

  /** @param type the only type of tasks, where there is such a limit */
  constructor(tasks: TaskReader, session: string, capabilityKeys: readonly string[], type?: string) {
    this.tasks = tasks;
    this.session = session;
    this.capabilityKeys = capabilityKeys;
    this.type = type;
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
    for (let task = this.candidates.shift(); task !== undefined; task = this.candidates.shift()) {
      if (this.dealt.has(task.value.id)) continue;
      this.dealt.add(task.value.id);
      return task;
    }
    return undefined;
  }

  /** Answers everyone who waits now with one query; whoever comes meanwhile waits for the next. */
  private async read(): Promise<void> {
    if (this.reading) return;
    this.reading = true;
    while (this.waiting.length > 0) {
      const served = this.waiting;
      this.waiting = [];
      try {
        this.claimedMeanwhile.clear();
        const limit = served.length + this.dealt.size + READ_AHEAD;
        const found = await this.tasks.claimable(this.session, this.capabilityKeys, limit, this.type);
        this.candidates = found.filter((task) => !this.claimedMeanwhile.has(task.value.id));
        this.complete = found.length < limit;
        this.queueVersion = Math.min(...served.map((call) => call.queueVersion));
        for (const call of served) call.resolve(this.deal());
      } catch (error) {
        this.forget();
        for (const call of served) call.reject(error);
      }
    }
    this.reading = false;
  }
}

// How the system tools read. Each call reads what it gives and a constant more.

/** The states of a task that is not closed, as system.getTaskQueue names them. */
export const QUEUE_STATUSES = ['pending', 'blocked', 'assigned', 'in_progress'] as const;

export type QueueStatus = (typeof QUEUE_STATUSES)[number];

export interface PriorityRange {
  readonly from: number;
  readonly to: number;
}

export interface QueueFilter {
  readonly priorities: PriorityRange | undefined;
  readonly type: string | undefined;
}

/** Of an answer, what the tasks of one state of the queue may take: two of them may have to share it. */
export const STATE_SHARE = 0.5;

/**
 * Matching agents to tasks without reading tasks: a session keeps the few different sets of capabilities
 * that its tasks require, each as one key, and a claim asks only for the keys that its agent satisfies.
 */

/** The most capabilities that one task may require. */
export const MAX_REQUIRED_CAPABILITIES = 10;

/** The longest key. Firestore queries no text above 1500 bytes, and one key too long would fail every claim. */
export const MAX_CAPABILITY_KEY_BYTES = 1200;

/** The most different sets of required capabilities in one session. */
export const MAX_CAPABILITY_KEYS = 150;

const SEPARATOR = '|';

/** The key of a set of capabilities; the empty set's is the empty text. Case does not count. */
export function capabilityKey(required: readonly string[]): string {
  return [...new Set(required.map(foldedCapability))].sort().join(SEPARATOR);
}

/** The keys among `keys` that an agent with these capabilities satisfies; the empty one always. */
export function satisfiedKeys(keys: readonly string[], capabilities: readonly string[]): string[] {
  const has = new Set(capabilities.map(foldedCapability));
  const satisfied = keys.filter((key) => key !== '' && key.split(SEPARATOR).every((name) => has.has(name)));
  return ['', ...satisfied.sort()];
}
