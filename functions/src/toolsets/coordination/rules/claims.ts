/**
 * Claiming from the queue: one optimistic commit of the task, its holder and the session's counters.
 * Source: spec/coordination.md, claim_task; docs/semantics.md#coordination.
 */

import { type Agent, agentNotRegistered, countedAgent, holding } from '../../../access/rules/agent.ts';
import { type Change, type RecordAnswer, StaleWriteError, type Versioned } from '../../../kernel/commit.ts';
import { BoundedMap } from '../../../kernel/memoCache.ts';
import { Service } from '../../../kernel/ports.ts';
import { retryStale } from '../../../kernel/waiting.ts';
import { claimableNow, projectCapability, type RunnerClaim, runnersPart } from './codingTask.ts';
import { type NoTask, NothingToClaim, noGoal } from './nothingToClaim.ts';
import type { CoordinationPorts, Session } from './session.ts';
import { claimTask, endBackoff } from './stateMachine.ts';
import { isHeld, type QueuePart, satisfiedKeys, type Task, taskChanges } from './task.ts';

/** A lease's length where the caller asks for none. Source: docs/semantics.md#coordination. */
export const DEFAULT_LEASE_SECONDS = 30 * 60;

/** How many windows an instance keeps: one for each session and set of satisfied requirements. */
const MAX_WINDOWS = 100;

interface ClaimRequest {
  readonly workspace: string;
  readonly agentId: string;
  readonly leaseSeconds: number;
  /** The tasks that the agent knows to be its own. Absent: those that it has started. */
  readonly inHand?: readonly string[] | undefined;
  /** Where a runner claims: coding tasks only, and never one that it holds already. */
  readonly runner?: RunnerClaim;
}

/** The queue as a claim found it, for waiting until there is more. */
export interface QueueMark {
  readonly session?: string;
  readonly queueVersion: number;
}

export type ClaimOutcome =
  | { readonly kind: 'claimed' | 'resumed'; readonly task: Task }
  /** A runner is not told why: it waits. */
  | { readonly kind: 'none'; readonly mark: QueueMark; readonly why?: NoTask };

/** A claim under way: its request, and what was read for it. */
interface Claiming {
  readonly request: ClaimRequest;
  readonly session: Session;
  readonly agent: Versioned<Agent>;
  readonly mark: QueueMark;
  readonly recordAnswer: RecordAnswer<ClaimOutcome>;
}

export class TaskClaims extends Service<CoordinationPorts> {
  private readonly windows = new BoundedMap<string, ClaimWindow>(MAX_WINDOWS);
  private readonly nothing = new NothingToClaim(this.ports);

  /**
   * Gives the agent the first task that it may work on. Before that, one that it holds and may not know of, since
   * the answer to its claim was lost; and where it holds as many as it may, the oldest of them.
   * @throws MusterError NOT_FOUND when the agent is not registered
   */
  claim(request: ClaimRequest, recordAnswer: RecordAnswer<ClaimOutcome>): Promise<ClaimOutcome> {
    return retryStale(this.ports.randomness, () => this.tryClaim(request, recordAnswer));
  }

  private async tryClaim(request: ClaimRequest, recordAnswer: RecordAnswer<ClaimOutcome>) {
    const { workspace, agentId, runner, inHand } = request;
    const { open, agent } = await this.ports.sessions.currentWithAgent(workspace, agentId);
    if (agent === undefined) throw agentNotRegistered(agentId);
    if (open === undefined)
      return this.answer({ kind: 'none', mark: { queueVersion: 0 }, why: noGoal(workspace) }, recordAnswer);
    const { session } = open;
    const mark = { session: session.id, queueVersion: session.queueVersion };
    const claiming = { request, session, agent, mark, recordAnswer };
    const declared = agent.value.capabilities.map(({ name }) => name);
    if (runner !== undefined) return this.claimForRunner(claiming, runner, declared);
    const resumed = await this.resumable(agent.value, session, inHand);
    if (resumed !== undefined) return this.answer({ kind: 'resumed', task: resumed }, recordAnswer);
    return this.claimNext(claiming, satisfiedKeys(session.capabilityKeys, declared));
  }

  /** Claims the task that the runner names, or the first that it can do. */
  private async claimForRunner(claiming: Claiming, runner: RunnerClaim, declared: readonly string[]) {
    const { session, agent, mark, recordAnswer } = claiming;
    const { project } = runner;
    const capabilities = [
      ...(runner.capabilities ?? declared),
      ...(project ? [projectCapability(project)] : []),
    ];
    if (runner.taskId === undefined) {
      const keys = satisfiedKeys(session.capabilityKeys, capabilities).filter((key) => key !== '');
      if (keys.length > 0) return this.claimNext(claiming, keys);
      return this.answer({ kind: 'none', mark }, recordAnswer);
    }
    const named = await this.ports.tasks.find(runner.taskId);
    const task = claimableNow(named, runner.taskId, session, capabilities, agent.value);
    if (task !== undefined) return this.take(task, claiming);
    if (await this.endBackoffOf(named)) throw new StaleWriteError();
    return this.answer({ kind: 'none', mark }, recordAnswer);
  }

  private async claimNext(claiming: Claiming, keys: readonly string[]): Promise<ClaimOutcome> {
    const { request, session, agent, mark, recordAnswer } = claiming;
    const window = this.window(session.id, keys, request.runner && runnersPart(agent.value));
    const candidate = await window.next(session.queueVersion);
    if (candidate !== undefined) {
      let outcome: 'claimed' | 'refused' = 'refused';
      try {
        const claimed = await this.take(candidate, claiming);
        outcome = 'claimed';
        return claimed;
      } finally {
        window.finish(candidate.value.id, outcome);
      }
    }
    const retried = await this.ports.tasks.firstBackoff(session.id);
    if (await this.endBackoffOf(retried)) throw new StaleWriteError();
    if (request.runner !== undefined) return this.answer({ kind: 'none', mark }, recordAnswer);
    const why = await this.nothing.explain(session, agent.value, retried?.value, this.ports.clock.now());
    return this.answer({ kind: 'none', mark, why }, recordAnswer);
  }

  private take(before: Versioned<Task>, { request, agent, recordAnswer }: Claiming): Promise<ClaimOutcome> {
    const now = this.ports.clock.now();
    const claimed = claimTask(before.value, agent.value.id, request.leaseSeconds, now);
    const task = codingClaimed(claimed, request.runner);
    return this.answer({ kind: 'claimed', task }, recordAnswer, claimChanges(before, task, agent, now));
  }

  /** What the agent is given again instead of another task, if anything. */
  private async resumable(
    { id, held, configuration }: Agent,
    session: Session,
    known: readonly string[] | undefined,
  ): Promise<Task | undefined> {
    const taskIds = Object.keys(held).filter((taskId) => held[taskId]?.session === session.id);
    if (taskIds.length === 0) return undefined;
    const isFull = taskIds.length >= configuration.maxConcurrentTasks;
    if (known === undefined && !isFull) return this.ports.tasks.notStarted(session.id, id);
    const asked = isFull ? taskIds : taskIds.filter((taskId) => !known?.includes(taskId));
    const found = (await this.ports.tasks.findAll(asked)).flatMap((task) => task?.value ?? []);
    // What it holds as a runner it knows.
    const own = found
      .filter(({ status, claim }) => isHeld(status) && claim?.agentId === id && !claim.isRunners)
      .sort((a, b) => Number(a.claim?.claimedAt) - Number(b.claim?.claimedAt));
    const unheardOf = own.find((task) => (known ? !known.includes(task.id) : task.status === 'claimed'));
    return unheardOf ?? own[0];
  }

  /** Makes a task claimable whose retry is due. Tells whether it was. */
  private async endBackoffOf(waiting: Versioned<Task> | undefined): Promise<boolean> {
    const now = this.ports.clock.now();
    if (waiting?.value.retryAt === undefined || waiting.value.retryAt > now) return false;
    const task = endBackoff(waiting.value);
    await this.ports.store.commit([
      { kind: 'replaceTask', task, before: waiting.value, version: waiting.version },
      { kind: 'queueGrew', workspace: task.workspace, session: task.session, capabilityKeys: [] },
    ]);
    return true;
  }

  /** Commits what an outcome changes, with the record of the call's key. */
  private async answer(
    outcome: ClaimOutcome,
    recordAnswer: RecordAnswer<ClaimOutcome>,
    changes: readonly Change[] = [],
  ): Promise<ClaimOutcome> {
    await this.ports.store.commit(changes, recordAnswer(outcome));
    return outcome;
  }

  private window(session: string, keys: readonly string[], part: QueuePart = {}): ClaimWindow {
    const name = [session, part.type ?? '', part.owner ?? '', ...keys].join('\n');
    const claimable = (limit: number) => this.ports.tasks.claimable(session, keys, limit, part);
    const window = this.windows.get(name) ?? new ClaimWindow(claimable);
    this.windows.set(name, window);
    return window;
  }
}

/** What changes when an agent takes a task on: the task, and the agent as its holder. */
export function claimChanges(
  { value: before, version }: Versioned<Task>,
  task: Task,
  agent: Versioned<Agent>,
  now: Date,
): Change[] {
  const holder = holding(agent.value, task.id, { session: task.session, epoch: task.epoch }, now);
  return [
    ...taskChanges(before, task, version, now),
    { kind: 'holdTask', agent: holder, taskId: task.id, version: agent.version },
    ...countedAgent(agent.value, holder),
  ];
}

/** A task just claimed, by a runner or by an agent that works the queue. */
export function codingClaimed(task: Task, runner: RunnerClaim | undefined): Task {
  const { claim } = task;
  if (claim === undefined || task.coding === undefined) return task;
  const { failure: _overcome, progress: _past, ...coding } = task.coding;
  return {
    ...task,
    claim: runner === undefined ? claim : { ...claim, isRunners: true },
    coding: { ...(runner?.project !== undefined && { project: runner.project }), ...coding },
  };
}

/** How many tasks one query reads ahead, beyond what the waiting calls need. */
const READ_AHEAD = 10;

interface Waiting {
  readonly queueVersion: number;
  readonly resolve: (task: Versioned<Task> | undefined) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * The head of the queue as one instance last read it. Calls that claim at the same time share one query and
 * are dealt different tasks, and the rest of a query serves later calls, for as long as the session's queue
 * version says that nothing has become claimable since. A window only proposes: the commit decides.
 */
export class ClaimWindow {
  private readonly claimable: (limit: number) => Promise<readonly Versioned<Task>[]>;
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
        const limit = served.length + this.dealt.size + READ_AHEAD;
        const found = await this.claimable(limit);
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
