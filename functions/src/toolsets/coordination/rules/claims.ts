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
import { Batching, type LongPoll, retryOnConflict } from '../../../kernel/concurrency.ts';
import { fittingItems } from '../../../kernel/json.ts';
import { BoundedMap } from '../../../kernel/memoCache.ts';
import { Service } from '../../../kernel/ports.ts';
import { type BudgetWaitPorts, budgetRefusal, pauseForBudget } from './budgetWait.ts';
import { claimableNow, projectCapability, type RunnerClaim, runnerMembership } from './codingTask.ts';
import type { Message } from './mailbox.ts';
import type { AgentMessages } from './messages.ts';
import { type ClaimState, type NoTask, NoTaskExplainer, noTask, ownWork } from './noTask.ts';
import { lostAccessChanges, type OwnerPorts, ownerState } from './ownerless.ts';
import type { CoordinationChange, QueueMark } from './ports.ts';
import { isAuthor, mayReview, type Reviewer } from './proof/checks.ts';
import { withAuthor } from './proof/proving.ts';
import type { Session } from './session.ts';
import { claimTask, endBackoff, startTask } from './stateMachine.ts';
import {
  capabilityKey,
  isHeld,
  isProgramCapability,
  type QueuePart,
  REVIEWS,
  SEPARATOR,
  satisfiedKeys,
  type Task,
} from './task.ts';
import { noteWritten, taskChanges } from './taskChanges.ts';

/** Default lease length. Source: docs/semantics.md#coordination. */
export const DEFAULT_LEASE_SECONDS = 30 * 60;

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
  /** Set if a runner makes the claim. A runner gets only coding tasks, and none that it already holds. */
  readonly runner?: RunnerClaim;
}

export type ClaimOutcome = (
  | { readonly kind: 'claimed' | 'resumed'; readonly task: Task }
  /** `why` is undefined for runners, because they wait for a task. */
  | { readonly kind: 'none'; readonly mark: QueueMark; readonly why?: NoTask }
) & { readonly messages?: readonly Message[] };

interface Claiming extends ClaimState {
  readonly request: ClaimRequest;
  readonly mark: QueueMark;
  /** Review of the agent's own work, if one is waiting. */
  readonly own?: Task | undefined;
  readonly recordResponse: RecordResponse<ClaimOutcome>;
}

export class TaskClaims extends Service<
  BudgetWaitPorts & OwnerPorts & { readonly messages: Pick<AgentMessages, 'unread'> }
> {
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
    const { workspace, agentId, runner, heldTaskIds } = request;
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
    const claiming = { request, session, agent, mark, growth, recordResponse: record };
    if (runner !== undefined) return withMessages(await this.claimForRunner(claiming, runner, declared));
    // The response to a claim that also started its task may have been lost, so only ids in the call prove receipt.
    const resumed = await this.resumableTask(agent.value, session, heldTaskIds ?? (request.start ? [] : undefined));
    if (resumed !== undefined) return withMessages(await this.resume(resumed, claiming));
    const { review, own } = await this.claimReview(claiming, declared);
    if (review !== undefined) return withMessages(review);
    const keys = claimableKeys(session, declared);
    return withMessages(await this.claimNext({ ...claiming, own }, keys));
  }

  /**
   * Claims the first review that the agent may do. Sessions that never had a review are not queried.
   * @returns the outcome, if there is such a review, or else a review of the agent's own work, if one is waiting
   */
  private async claimReview(claiming: Claiming, declared: readonly string[]) {
    const { session, agent, request } = claiming;
    const keys = satisfiedKeys(session.capability_keys, [...declared, REVIEWS]).filter(isReviewKey);
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
    const { request, session, agent, mark, growth, recordResponse } = claiming;
    const window = this.window(session.id, keys, request.runner && runnerMembership(agent.value));
    for (let refused = 0; refused < MAX_REJECTED_WINDOW; refused++) {
      const candidate = await window.next(growth);
      if (candidate === undefined) break;
      let outcome: 'claimed' | 'refused' = 'refused';
      try {
        const claimed = await this.claimFound(candidate, claiming);
        outcome = 'claimed';
        if (claimed !== undefined) return claimed;
      } finally {
        window.finish(candidate.value.id, outcome);
      }
    }
    const retried = await this.ports.tasks.firstBackoff(session.id);
    if (await this.endBackoffOf(retried, session)) throw new StaleWriteError();
    if (request.runner !== undefined) return this.outcomeOf({ kind: 'none', mark }, recordResponse);
    const { own } = claiming;
    const why = own
      ? ownWork(own)
      : await this.noTaskExplainer.explain(claiming, retried?.value, this.ports.clock.now());
    return this.outcomeOf({ kind: 'none', mark, why }, recordResponse);
  }

  /** Returns undefined if the task now waits for a budget, or if its owner lost access or could not be checked. */
  private async claimFound(
    before: Versioned<Task>,
    { request, agent, recordResponse }: Claiming,
  ): Promise<ClaimOutcome | undefined> {
    const now = this.ports.clock.now();
    const standing = await ownerState(this.ports, before.value, agent.value);
    if (standing === 'out') await this.ports.store.commit(lostAccessChanges(before, now));
    if (standing !== 'works') return undefined;
    const refusal = await budgetRefusal(this.ports, before.value);
    if (refusal !== undefined) {
      await this.ports.askToRaise(refusal, before.value.workspace);
      const task = pauseForBudget(before.value, refusal, now);
      await this.ports.store.commit([{ kind: 'replaceTask', task, before: before.value, version: before.version }]);
      return undefined;
    }
    const taken = claimedBy(
      claimTask(before.value, agent.value.id, request.leaseSeconds, now),
      agent.value,
      request.by,
    );
    const claimed = codingClaimed(taken, request.runner);
    const task = request.start ? startTask(claimed, { agent_id: agent.value.id }, now) : claimed;
    const changes = claimChanges(before, task, agent, now);
    const outcome = await this.outcomeOf({ kind: 'claimed', task }, recordResponse, changes);
    // The lease depends on the agent's last-seen time, so a short lease needs an exact last-seen time.
    if (request.leaseSeconds < SHORT_LEASE_SECONDS && request.runner === undefined)
      await touchPresence(this.ports, agent.value, request.leaseSeconds);
    return outcome;
  }

  /** Returns a held task again. Starts it if the request says so and the agent has not started it. */
  private resume({ value, version }: Versioned<Task>, { request, agent, recordResponse }: Claiming) {
    const now = this.ports.clock.now();
    const starts = request.start && value.status === 'claimed';
    const task = starts ? startTask(value, { agent_id: agent.value.id }, now) : value;
    const changes = starts ? taskChanges(value, task, version, now) : [];
    return this.outcomeOf({ kind: 'resumed', task }, recordResponse, changes);
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
  private async endBackoffOf(waiting: Versioned<Task> | undefined, session: Session): Promise<boolean> {
    const now = this.ports.clock.now();
    if (waiting?.value.retry_at === undefined || waiting.value.retry_at > now) return false;
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

function isReviewKey(key: string): boolean {
  return key.split(SEPARATOR).includes(REVIEWS);
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
