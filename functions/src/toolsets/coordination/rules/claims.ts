/**
 * Claiming from the queue: one optimistic commit of the task, its holder and the session's counters.
 * Source: spec/coordination.md, claim_task; docs/semantics.md#coordination.
 */
import { type Agent, agentNotRegistered, countedAgent, holding } from '../../../access/rules/agent.ts';
import { type RecordAnswer, StaleWriteError, type Versioned } from '../../../kernel/commit.ts';
import { BoundedMap } from '../../../kernel/memoCache.ts';
import { retryStale } from '../../../kernel/waiting.ts';
import { ClaimWindow, satisfiedKeys } from './claimWindow.ts';
import { capabilitiesOf, claimableNow, codingClaimed, type RunnerClaim } from './codingTask.ts';
import { claimTask, endBackoff } from './machine.ts';
import { type NoTask, NothingToClaim, noGoal } from './nothingToClaim.ts';
import type { CoordinationPorts, Session } from './session.ts';
import { CODING_TYPE, isHeld, type Task, taskChanges } from './task.ts';

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

export class TaskClaims {
  private readonly ports: CoordinationPorts;
  private readonly windows = new BoundedMap<string, ClaimWindow>(MAX_WINDOWS);
  private readonly nothing: NothingToClaim;

  constructor(ports: CoordinationPorts) {
    this.ports = ports;
    this.nothing = new NothingToClaim(ports);
  }

  /**
   * Gives the agent the first task that it may work on. Before that, one that it holds and may not know of, since
   * the answer to its claim was lost; and where it holds as many as it may, the oldest of them.
   * @throws MusterError NOT_FOUND when the agent is not registered
   */
  claim(request: ClaimRequest, recordAnswer: RecordAnswer<ClaimOutcome>): Promise<ClaimOutcome> {
    return retryStale(this.ports.randomness, () => this.tryClaim(request, recordAnswer));
  }

  private async tryClaim(
    request: ClaimRequest,
    recordAnswer: RecordAnswer<ClaimOutcome>,
  ): Promise<ClaimOutcome> {
    const { open, agent } = await this.ports.sessions.currentWithAgent(request.workspace, request.agentId);
    if (agent === undefined) throw agentNotRegistered(request.agentId);
    if (open === undefined) {
      const why = noGoal(request.workspace);
      return this.answer({ kind: 'none', mark: { queueVersion: 0 }, why }, recordAnswer);
    }
    const { session } = open;
    if (request.runner !== undefined)
      return this.claimForRunner(request, request.runner, session, agent, recordAnswer);
    const resumed = await this.resumable(agent.value, session, request.inHand);
    if (resumed !== undefined) return this.answer({ kind: 'resumed', task: resumed }, recordAnswer);
    const keys = satisfiedKeys(
      session.capabilityKeys,
      agent.value.capabilities.map(({ name }) => name),
    );
    return this.claimNext(request, session, keys, agent, recordAnswer);
  }

  /** Claims the task that the runner names, or the first that it can do. */
  private async claimForRunner(
    request: ClaimRequest,
    runner: RunnerClaim,
    session: Session,
    agent: Versioned<Agent>,
    recordAnswer: RecordAnswer<ClaimOutcome>,
  ): Promise<ClaimOutcome> {
    const declared = agent.value.capabilities.map(({ name }) => name);
    const capabilities = capabilitiesOf(runner, declared);
    if (runner.taskId === undefined) {
      const keys = satisfiedKeys(session.capabilityKeys, capabilities).filter((key) => key !== '');
      if (keys.length > 0) return this.claimNext(request, session, keys, agent, recordAnswer);
    } else {
      const named = await this.ports.tasks.find(runner.taskId);
      const task = claimableNow(named, runner.taskId, session, capabilities);
      if (task !== undefined) return this.take(task, agent, request, recordAnswer);
      if (await this.endBackoffOf(named)) throw new StaleWriteError();
    }
    return this.answer({ kind: 'none', mark: markOf(session) }, recordAnswer);
  }

  private async claimNext(
    request: ClaimRequest,
    session: Session,
    keys: readonly string[],
    agent: Versioned<Agent>,
    recordAnswer: RecordAnswer<ClaimOutcome>,
  ): Promise<ClaimOutcome> {
    const window = this.window(session.id, keys, request.runner && CODING_TYPE);
    const candidate = await window.next(session.queueVersion);
    if (candidate !== undefined) {
      let outcome: 'claimed' | 'refused' = 'refused';
      try {
        const claimed = await this.take(candidate, agent, request, recordAnswer);
        outcome = 'claimed';
        return claimed;
      } finally {
        window.finish(candidate.value.id, outcome);
      }
    }
    const retried = await this.ports.tasks.firstBackoff(session.id);
    if (await this.endBackoffOf(retried)) throw new StaleWriteError();
    const why = request.runner ? undefined : await this.explained(session, agent.value, retried?.value);
    return this.answer({ kind: 'none', mark: markOf(session), ...(why && { why }) }, recordAnswer);
  }

  private explained(session: Session, agent: Agent, retried: Task | undefined): Promise<NoTask> {
    return this.nothing.explain({
      session: session.id,
      queueVersion: session.queueVersion,
      capabilities: agent.capabilities.map(({ name }) => name),
      retried,
      now: this.ports.clock.now(),
    });
  }

  /** Commits the claim of a task. */
  private async take(
    { value: before, version }: Versioned<Task>,
    agent: Versioned<Agent>,
    request: ClaimRequest,
    recordAnswer: RecordAnswer<ClaimOutcome>,
  ): Promise<ClaimOutcome> {
    const now = this.ports.clock.now();
    const task = codingClaimed(claimTask(before, agent.value.id, request.leaseSeconds, now), request.runner);
    const holder = holding(agent.value, task.id, { session: task.session, epoch: task.epoch }, now);
    const claimed: ClaimOutcome = { kind: 'claimed', task };
    await this.ports.store.commit(
      [
        ...taskChanges(before, task, version, now),
        { kind: 'holdTask', agent: holder, taskId: task.id, version: agent.version },
        ...countedAgent(agent.value, holder),
      ],
      recordAnswer(claimed),
    );
    return claimed;
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
    const tasks = await this.held(
      id,
      isFull ? taskIds : taskIds.filter((taskId) => !known?.includes(taskId)),
    );
    const isUnheardOf = (task: Task): boolean =>
      known === undefined ? task.status === 'claimed' : !known.includes(task.id);
    return tasks.find(isUnheardOf) ?? tasks[0];
  }

  /** Those of the tasks that the agent still holds, the oldest claim first. What it holds as a runner it knows. */
  private async held(agentId: string, taskIds: readonly string[]): Promise<readonly Task[]> {
    const found = await this.ports.tasks.findAll(taskIds);
    const held = found.flatMap((task) => {
      const { status, claim } = task?.value ?? {};
      const isTheirs = claim?.agentId === agentId && claim.isRunners !== true;
      return task && status && isHeld(status) && isTheirs ? [task.value] : [];
    });
    return held.sort((a, b) => Number(a.claim?.claimedAt) - Number(b.claim?.claimedAt));
  }

  /** Makes a task claimable whose retry is due. Tells whether it was. */
  private async endBackoffOf(waiting: Versioned<Task> | undefined): Promise<boolean> {
    const now = this.ports.clock.now();
    if (waiting?.value.retryAt === undefined || waiting.value.retryAt > now) return false;
    const task = endBackoff(waiting.value);
    await this.ports.store.commit([
      { kind: 'replaceTask', task, version: waiting.version },
      { kind: 'queueGrew', workspace: task.workspace, session: task.session, capabilityKeys: [] },
    ]);
    return true;
  }

  /** Answers what changes nothing but the record of the call's key. */
  private async answer(
    outcome: ClaimOutcome,
    recordAnswer: RecordAnswer<ClaimOutcome>,
  ): Promise<ClaimOutcome> {
    await this.ports.store.commit([], recordAnswer(outcome));
    return outcome;
  }

  private window(session: string, capabilityKeys: readonly string[], type: string | undefined): ClaimWindow {
    const name = [session, type ?? '', ...capabilityKeys].join('\n');
    const window = this.windows.get(name) ?? new ClaimWindow(this.ports.tasks, session, capabilityKeys, type);
    this.windows.set(name, window);
    return window;
  }
}

function markOf({ id, queueVersion }: Session): QueueMark {
  return { session: id, queueVersion };
}
