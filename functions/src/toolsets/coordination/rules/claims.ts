/**
 * Claims of tasks in the queue. Each claim is one optimistic commit of the task, its holder and the session's
 * counters. Source: the coordination specification, claim_task; docs/semantics.md#coordination.
 */
import {
  type Agent,
  agentNotRegistered,
  countedAgent,
  foldedCapability,
  withHeldTask,
} from '../../../agents/rules/agent.ts';
import { touchPresence } from '../../../agents/rules/liveness.ts';
import { agentUid } from '../../../identity/rules/principal.ts';
import { type RecordResponse, StaleWriteError, type Versioned } from '../../../kernel/commit.ts';
import { Lanes, type LongPoll, retryOnConflict } from '../../../kernel/concurrency.ts';
import { BoundedMap, lazy } from '../../../kernel/memoCache.ts';
import { Service } from '../../../kernel/ports.ts';
import { type BudgetWaitPorts, budgetRefusal, pauseForBudget } from './budgetWait.ts';
import { ClaimWindow } from './claimWindow.ts';
import { claimableNow, projectCapability, type RunnerClaim, runnerMembership } from './codingTask.ts';
import type { HeldFilesQueries } from './files/heldFiles.ts';
import {
  filesReason,
  pausedForFiles,
  readFiles,
  type TakenFiles,
  takeFiles,
  withoutFileWait,
} from './files/reserving.ts';
import type { Message } from './mailbox.ts';
import type { AgentMessages } from './messages.ts';
import { type ClaimState, type NoTask, NoTaskExplainer, noTask, ownWork } from './noTask.ts';
import { lostAccessChanges, type OwnerPorts, ownerState } from './ownerless.ts';
import type { CoordinationChange, QueueMark } from './ports.ts';
import { isAuthor, mayReview, type Reviewer } from './proof/checks.ts';
import { REVIEWS } from './proof/proofFields.ts';
import { withAuthor } from './proof/proving.ts';
import type { Session } from './session.ts';
import { claimTask, endBackoff, startTask } from './stateMachine.ts';
import {
  capabilityKey,
  compareInQueue,
  isHeld,
  isProgramCapability,
  type QueuePart,
  SEPARATOR,
  satisfiedKeys,
  type Task,
} from './task.ts';
import { noteWritten, taskChanges } from './taskChanges.ts';

/** Shorter leases need an exact last-seen time of the agent, which is otherwise up to 30 seconds old. */
const SHORT_LEASE_SECONDS = 5 * 60;

/** Maximum number of tasks that one claim skips because their budget is exhausted or their owner lost access. */
const MAX_REJECTED_WINDOW = 20;

/** Maximum number of reviews that a claim reads, because it skips those of the agent's own work. */
const MAX_REVIEWS_READ = 9;

/** Maximum number of claim windows per instance. Each session and set of capability keys has its own window. */
const MAX_WINDOWS = 100;

interface ClaimRequest {
  readonly workspace: string;
  readonly agentId: string;
  readonly leaseSeconds: number;
  /** Tasks that the agent knows it holds. By default, these are the held tasks that it has started. */
  readonly heldTaskIds?: readonly string[] | undefined;
  /** Whether the claim also starts the task. Then the default of `heldTaskIds` is an empty list. */
  readonly start?: boolean;
  /** Whether the caller may read the agent's messages. Default: false. */
  readonly readsMessages?: boolean;
  /** The caller, who gets no review of work that was done with the same credential. */
  readonly by: Reviewer;
  /** Whether the claim takes tasks whose files another task has reserved. Default: false. */
  readonly sharesFiles?: boolean;
  /** Set if a runner makes the claim. A runner gets only coding tasks, and none that it already holds. */
  readonly runner?: RunnerClaim;
}

export type ClaimOutcome = (
  | { readonly kind: 'claimed' | 'resumed'; readonly task: Task }
  /** `why` is undefined for runners, because they wait for a task. */
  | { readonly kind: 'none'; readonly mark: QueueMark; readonly why?: NoTask }
) &
  Partial<Pick<TakenFiles, 'shared' | 'notice'>> & { readonly messages?: readonly Message[] };

interface Claiming extends ClaimState {
  readonly request: ClaimRequest;
  readonly mark: QueueMark;
  /** Review of the agent's own work, if one is waiting. */
  readonly own?: Task | undefined;
  /** Reads the reserved files once, after earlier claims of this instance that read them. */
  readonly heldFiles: HeldFilesQueries;
  readonly recordResponse: RecordResponse<ClaimOutcome>;
}

export class TaskClaims extends Service<
  BudgetWaitPorts & OwnerPorts & { readonly messages: Pick<AgentMessages, 'unread'> }
> {
  private readonly lanes = new Lanes();
  private readonly windows = new BoundedMap<string, ClaimWindow>(MAX_WINDOWS);
  private readonly noTaskExplainer = new NoTaskExplainer(this.ports);

  /**
   * Claims the first task that the agent can do. If the response to an earlier claim may have been lost, or if the
   * agent holds its maximum number of tasks, returns a task that it already holds.
   * @throws MusterError NOT_FOUND if the agent is not registered
   */
  claim(request: ClaimRequest, recordResponse: RecordResponse<ClaimOutcome>): Promise<ClaimOutcome> {
    return retryOnConflict(this.ports.randomness, () => this.tryClaim(request, recordResponse));
  }

  /** Claims a task, or waits up to `waitMs` for one. Only the last attempt records a response without a task. */
  async claimOrWait(
    request: ClaimRequest,
    waitMs: number,
    { disconnectSignal, trackWait }: LongPoll,
    recordResponse: RecordResponse<ClaimOutcome>,
  ): Promise<ClaimOutcome> {
    if (waitMs <= 0) return this.claim(request, recordResponse);
    const until = AbortSignal.any([disconnectSignal(), AbortSignal.timeout(waitMs)]);
    for (;;) {
      const isLast = until.aborted;
      const outcome = await this.claim(request, (claimed) =>
        claimed.kind === 'none' && !isLast ? undefined : recordResponse(claimed),
      );
      if (outcome.kind !== 'none' || isLast) return outcome;
      await trackWait(this.ports.queue.growth(request.workspace, outcome.mark, until));
      // If the client has disconnected, it would not receive the claimed task.
      if (disconnectSignal().aborted) return outcome;
    }
  }

  private async tryClaim(request: ClaimRequest, recordResponse: RecordResponse<ClaimOutcome>) {
    const { workspace, agentId } = request;
    const { open, agent, growth } = await this.ports.sessions.currentWithAgent(workspace, agentId);
    if (agent === undefined) throw agentNotRegistered(agentId);
    if (open === undefined) return this.outcomeOf({ kind: 'none', mark: {}, why: noTask(workspace) }, recordResponse);
    const { session } = open;
    const mark = { session: session.id, readAt: open.readAt };
    const declared = agent.value.capability_details.map(({ name }) => name);
    const { readsMessages = false } = request;
    const messages = await this.ports.messages.unread({ ...agent.value, readsMessages }, workspace);
    const withMessages = (outcome: ClaimOutcome) => (messages.length === 0 ? outcome : { ...outcome, messages });
    const record: RecordResponse<ClaimOutcome> = (outcome) => recordResponse(withMessages(outcome));
    const lane: { leave?: () => void } = {};
    // All reservations of a session are in one document, so that concurrent claims with files would only conflict.
    const held = lazy(async () => {
      lane.leave = await this.lanes.enter(session.id);
      return this.ports.heldFiles.find(session.id);
    });
    const claiming = { request, session, agent, mark, growth, heldFiles: { find: held }, recordResponse: record };
    try {
      return withMessages(await this.claimAs(claiming, declared));
    } finally {
      lane.leave?.();
    }
  }

  private async claimAs(claiming: Claiming, declared: readonly string[]): Promise<ClaimOutcome> {
    const { request, session, agent } = claiming;
    const { runner, heldTaskIds } = request;
    if (runner !== undefined) return this.claimForRunner(claiming, runner, declared);
    // The response to a claim that also started its task may have been lost, so only ids in the call prove receipt.
    const resumed = await this.resumableTask(agent.value, session, heldTaskIds ?? (request.start ? [] : undefined));
    if (resumed !== undefined) return this.resume(resumed, claiming);
    const { review, own } = await this.claimReview(claiming, declared);
    if (review !== undefined) return review;
    return this.claimNext({ ...claiming, own }, claimableKeys(session, declared));
  }

  /**
   * Claims the first review that the agent may do. Sessions that never had a review are not queried.
   * @returns the outcome, if there is such a review, or else a review of the agent's own work, if one is waiting
   */
  private async claimReview(claiming: Claiming, declared: readonly string[]) {
    const { session, agent, request } = claiming;
    const satisfied = satisfiedKeys(session.capability_keys, [...declared, REVIEWS]);
    const keys = satisfied.filter((key) => key.split(SEPARATOR).includes(REVIEWS));
    if (keys.length === 0) return {};
    const reviews = await this.ports.tasks.reviews(session.id, keys, MAX_REVIEWS_READ);
    const now = this.ports.clock.now();
    for (const found of reviews) {
      if (!mayReview(found.value, agent.value, request.by, now)) continue;
      const review = await this.claimFound(found, claiming);
      if (review !== undefined) return { review };
    }
    const own = reviews.find(({ value }) => value.reviews && isAuthor(value.reviews, agent.value, request.by));
    return { own: own?.value };
  }

  private async claimForRunner(claiming: Claiming, runner: RunnerClaim, declared: readonly string[]) {
    const { session, agent, mark, recordResponse } = claiming;
    const { project } = runner;
    const capabilities = [...(runner.capabilities ?? declared), ...(project ? [projectCapability(project)] : [])];
    if (runner.taskId === undefined) {
      const keys = claimableKeys(session, capabilities).filter((key) => key !== '');
      if (keys.length > 0) return this.claimNext(claiming, keys);
      return this.outcomeOf({ kind: 'none', mark }, recordResponse);
    }
    const named = await this.ports.tasks.find(runner.taskId);
    const task = claimableNow(named, runner.taskId, session, { capabilities, agent: agent.value });
    const taken = task && (await this.claimFound(task, claiming));
    if (taken !== undefined) return taken;
    if (await this.endBackoffOf(named, session)) throw new StaleWriteError();
    return this.outcomeOf({ kind: 'none', mark }, recordResponse);
  }

  private async claimNext(claiming: Claiming, keys: readonly string[]): Promise<ClaimOutcome> {
    const { request, session, agent, mark, recordResponse } = claiming;
    const shared = request.sharesFiles ? await this.claimShared(claiming, keys) : undefined;
    if (shared !== undefined) return shared;
    const window = this.window(session.id, keys, request.runner && runnerMembership(agent.value));
    const sharing: Versioned<Task>[] = [];
    try {
      const claimed = await this.claimFrom(window, claiming, sharing);
      if (claimed !== undefined) return claimed;
    } finally {
      for (const { value } of sharing) window.finish(value.id, 'refused');
    }
    const retried = await this.ports.tasks.firstBackoff(session.id);
    const holder = retried?.value.files_wait;
    const held = holder === undefined ? undefined : (await claiming.heldFiles.find(session.id))?.value;
    // The holder may have freed its files while the claim that put the task off was deciding.
    const isFree = holder !== undefined && held?.tasks[holder] === undefined;
    if (await this.endBackoffOf(retried, session, isFree)) throw new StaleWriteError();
    if (request.runner !== undefined) return this.outcomeOf({ kind: 'none', mark }, recordResponse);
    const { own } = claiming;
    const explain = () => this.noTaskExplainer.explain({ ...claiming, held }, retried?.value, this.ports.clock.now());
    const why = own ? ownWork(own) : await explain();
    return this.outcomeOf({ kind: 'none', mark, why }, recordResponse);
  }

  /**
   * Claims the first task with free files, or else the first that has waited for its files for long enough.
   * @param sharing receives the tasks of the window that were kept for the end
   */
  private async claimFrom(
    window: ClaimWindow,
    claiming: Claiming,
    sharing: Versioned<Task>[],
  ): Promise<ClaimOutcome | undefined> {
    for (let refused = 0; refused < MAX_REJECTED_WINDOW; refused++) {
      const candidate = await window.next(claiming.growth);
      if (candidate === undefined) break;
      let outcome: 'claimed' | 'refused' = 'refused';
      try {
        const claimed = await this.claimFound(candidate, claiming, sharing);
        outcome = 'claimed';
        if (claimed !== undefined) return claimed;
      } finally {
        if (!sharing.includes(candidate)) window.finish(candidate.value.id, outcome);
      }
    }
    const [first] = sharing;
    return first && this.claimFound(first, claiming);
  }

  /** Claims a task that waits for files, although another task still has them. */
  private async claimShared(claiming: Claiming, keys: readonly string[]): Promise<ClaimOutcome | undefined> {
    const waiting = await this.ports.tasks.waitingForFiles(claiming.session.id, MAX_REJECTED_WINDOW);
    const fitting = waiting.filter(({ value }) => {
      const isOnlyWait = filesReason(value) !== undefined && value.blockers === 1;
      return isOnlyWait && keys.includes(capabilityKey(value.required_capabilities));
    });
    for (const { value, version } of fitting.sort((a, b) => compareInQueue(a.value, b.value))) {
      const claimed = await this.claimFound({ value: withoutFileWait(value), version }, claiming);
      if (claimed !== undefined) return claimed;
    }
    return undefined;
  }

  /**
   * Returns undefined if the task now waits, or if its owner lost access or could not be checked.
   * @param sharing if set, receives the task instead if it has waited for files that another task still has
   */
  private async claimFound(
    before: Versioned<Task>,
    { request, agent, heldFiles, recordResponse }: Claiming,
    sharing?: Versioned<Task>[],
  ): Promise<ClaimOutcome | undefined> {
    const now = this.ports.clock.now();
    const standing = await ownerState(this.ports, before.value, agent.value);
    if (standing === 'out') await this.ports.store.commit(lostAccessChanges(before, now));
    if (standing !== 'works') return undefined;
    const refusal = before.value.coding && (await budgetRefusal(this.ports, before.value));
    if (refusal !== undefined) {
      await this.ports.askToRaise(refusal, before.value.workspace);
      return this.pause(before, pauseForBudget(before.value, refusal, now));
    }
    const taken = claimTask(before.value, agent.value.id, request.leaseSeconds, now);
    const claimed = codingClaimed(claimedBy(taken, agent.value, request.by), request.runner);
    const files = await readFiles({ heldFiles }, claimed);
    const paused = request.sharesFiles ? undefined : pausedForFiles(before.value, files, now);
    if (paused !== undefined) return this.pause(before, paused);
    const hasWaited = before.value.files_since !== undefined && files !== undefined && files.shared.length > 0;
    if (sharing !== undefined && hasWaited && !request.sharesFiles) {
      sharing.push(before);
      return undefined;
    }
    const started = request.start ? startTask(claimed, { agent_id: agent.value.id }, now) : claimed;
    const { task, changes: reserving, ...told } = takeFiles(started, files);
    const changes = [...claimChanges(before, task, agent, now), ...reserving];
    const outcome = await this.outcomeOf({ kind: 'claimed', task, ...told }, recordResponse, changes);
    // The lease depends on the agent's last-seen time, so a short lease needs an exact last-seen time.
    if (request.leaseSeconds < SHORT_LEASE_SECONDS && request.runner === undefined)
      await touchPresence(this.ports, agent.value, request.leaseSeconds);
    return outcome;
  }

  private async pause({ value: before, version }: Versioned<Task>, task: Task): Promise<undefined> {
    await this.ports.store.commit([{ kind: 'replaceTask', task, before, version }]);
  }

  /** Returns a held task again. Starts it if the request says so and the agent has not started it. */
  private async resume({ value, version }: Versioned<Task>, { request, agent, recordResponse }: Claiming) {
    const now = this.ports.clock.now();
    const { shared = [] } = (value.files_held && (await readFiles(this.ports, value))) || {};
    const starts = request.start && value.status === 'claimed';
    const task = starts ? startTask(value, { agent_id: agent.value.id }, now) : value;
    const changes = starts ? taskChanges(value, task, version, now) : [];
    return this.outcomeOf({ kind: 'resumed', task, shared }, recordResponse, changes);
  }

  /** Returns the held task that the agent gets again instead of a new one, if any. */
  private async resumableTask(
    { id, held, configuration }: Agent,
    session: Session,
    known: readonly string[] | undefined,
  ): Promise<Versioned<Task> | undefined> {
    const taskIds = Object.keys(held).filter((taskId) => held[taskId]?.session === session.id);
    if (taskIds.length === 0) return undefined;
    const isFull = taskIds.length >= configuration.max_concurrent_tasks;
    if (known === undefined && !isFull) return this.ports.tasks.notStarted(session.id, id);
    const asked = isFull ? taskIds : taskIds.filter((taskId) => !known?.includes(taskId));
    const found = (await this.ports.tasks.findAll(asked)).flatMap((task) => task ?? []);
    // Tasks that the agent claimed as a runner are excluded, because the runner keeps track of them.
    const own = found
      .filter(({ value: { status, claim } }) => isHeld(status) && claim?.claimed_by === id && !claim.claimed_by_runner)
      .sort((a, b) => Number(a.value.claim?.claimed_at) - Number(b.value.claim?.claimed_at));
    const unheardOf = own.find(({ value: task }) => (known ? !known.includes(task.id) : task.status === 'claimed'));
    return unheardOf ?? own[0];
  }

  /** Makes a task claimable if its retry delay is over. Returns whether the delay is over. */
  private async endBackoffOf(waiting: Versioned<Task> | undefined, session: Session, isOver = false): Promise<boolean> {
    const now = this.ports.clock.now();
    if (waiting?.value.retry_at === undefined || (waiting.value.retry_at > now && !isOver)) return false;
    if (waiting.value.session !== session.id) return false;
    const task = endBackoff(waiting.value);
    await this.ports.store.commit([
      { kind: 'replaceTask', task, before: waiting.value, version: waiting.version },
      { kind: 'queueGrew', session, capability_keys: [] },
    ]);
    return true;
  }

  private async outcomeOf(
    outcome: ClaimOutcome,
    recordResponse: RecordResponse<ClaimOutcome>,
    changes: readonly CoordinationChange[] = [],
  ): Promise<ClaimOutcome> {
    const kept = outcome.kind !== 'none' && { onVersion: noteWritten(this.ports, outcome.task) };
    await this.ports.store.commit(changes, { ...recordResponse(outcome), ...kept });
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

/**
 * Returns the keys of the tasks that an agent with these capabilities can claim. The empty key is always included.
 * Keys of coding tasks are derived, so a session need not store each pair of coding tool and project.
 */
export function claimableKeys(
  { capability_keys }: Pick<Session, 'capability_keys'>,
  capabilities: readonly string[],
): string[] {
  const has = [...new Set(capabilities.map(foldedCapability))];
  const projects = has.filter((name) => name.startsWith('project:'));
  const coding = has
    .filter(isProgramCapability)
    .flatMap((program) => [program, ...projects.map((project) => capabilityKey([program, project]))]);
  return [...new Set([...satisfiedKeys(capability_keys, capabilities), ...coding])];
}

/** Returns a claimed task with its holder as an author, if its result must be proven. */
export function claimedBy(task: Task, { id, registered_by }: Agent, { uid }: Pick<Reviewer, 'uid'>): Task {
  if (task.acceptance === undefined) return task;
  const own = agentUid(id);
  // An agent with its own credential is independent of the other agents that its leader registered.
  return withAuthor(withAuthor(task, id, uid === own ? own : (registered_by ?? own)), id, uid);
}

export function claimChanges(
  { value: before, version }: Versioned<Task>,
  task: Task,
  agent: Versioned<Agent>,
  now: Date,
): CoordinationChange[] {
  const holder = withHeldTask(agent.value, task.id, { session: task.session, claim_epoch: task.claim_epoch }, now);
  return [
    ...taskChanges(before, task, version, now),
    { kind: 'holdTask', agent: holder, taskId: task.id, version: agent.version },
    ...countedAgent(agent.value, holder),
  ];
}

/** Returns a newly claimed coding task, without its previous failure. Marks the claim if a runner made it. */
export function codingClaimed(task: Task, runner: RunnerClaim | undefined): Task {
  const { claim } = task;
  if (claim === undefined || task.coding === undefined) return task;
  const { failure: _overcome, progress: _past, ...coding } = task.coding;
  return {
    ...task,
    claim: runner === undefined ? claim : { ...claim, claimed_by_runner: true },
    coding: { ...(runner?.project !== undefined && { project: runner.project }), ...coding },
  };
}
