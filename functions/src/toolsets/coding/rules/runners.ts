/** Calls of runners for coding tasks: claims, heartbeats and logs. Source: docs/guides/runner.md. */
import { type ActingAgent, recordedAs } from '../../../agents/rules/liveness.ts';
import type { Principal } from '../../../identity/rules/principal.ts';
import type { RecordResponse, Versioned } from '../../../kernel/commit.ts';
import type { LongPoll } from '../../../kernel/concurrency.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { requireSize } from '../../../kernel/json.ts';
import { Service } from '../../../kernel/ports.ts';
import { terminalText } from '../../../kernel/text.ts';
import {
  asCodingTask,
  type Claimant,
  type ClaimOutcome,
  type CodingTask,
  claimChanges,
  FileTouches,
  filesFor,
  type Hearing,
  isClosed,
  isForTask,
  isHeld,
  type Message,
  type MessageReceipt,
  renewLease,
  type SharedFile,
  startTask,
  taskChanges,
  toolCapability,
  waitTask,
} from '../../coordination/index.ts';
import { restoredTask } from './ending.ts';
import { appendChanges, appendNumbered, type NumberedEntry } from './log.ts';
import type { CodingChange } from './ports.ts';
import { type CodingPorts, changeTask, claimantOf, codingStatus } from './task.ts';

interface RunnerClaimRequest {
  readonly workspace: string;
  readonly agentId?: string | undefined;
  readonly tools?: readonly string[] | undefined;
  readonly project?: string | undefined;
  readonly taskId?: string | undefined;
  readonly waitMs: number;
  readonly leaseSeconds: number;
  /** Id of the last message that the runner has passed on to its coding agents. */
  readonly readUntil?: string | undefined;
}

export interface RunnerClaimed {
  readonly task: CodingTask | undefined;
  readonly shared?: readonly SharedFile[];
  readonly messages: readonly Message[];
}

interface HeartbeatReport extends MessageReceipt {
  readonly epoch: number;
  /** `started`: the task is at least in progress, and may be in a later state. */
  readonly state?: 'started' | 'in_progress' | 'waiting' | undefined;
  readonly progress?: string | undefined;
  readonly hearing?: Hearing | undefined;
  /** Files that the branch has changed so far, if the list is new. */
  readonly files?: readonly string[] | undefined;
}

export interface Heartbeat {
  readonly leaseUntil?: Date | undefined;
  /** Unread messages for the task that the runner has not received yet; none if it must stop. */
  readonly messages: readonly Message[];
  /** `ended`: another caller has ended the task; the remaining lines of its log are still accepted. */
  readonly stop?: { readonly reason: 'ended' | 'claim_lost'; readonly message: string };
}

export interface Appended extends Heartbeat {
  readonly accepted: number;
  /** Number of the line that follows the appended lines. */
  readonly next: number;
}

/** Maximum size of the entries of one call in bytes of JSON. */
const MAX_APPEND_BYTES = 256 * 1024;
const MAX_DATA_BYTES = 16 * 1024;

/** Calls renew a lease only if less than this fraction of it is left, so that most calls write nothing. */
const RENEWAL_SHARE = 2 / 3;

export class CodingRunners extends Service<CodingPorts> {
  private readonly fileTouches = new FileTouches(this.ports);

  /** Claims a task, or waits up to `waitMs`. @throws NOT_FOUND; FORBIDDEN if the caller cannot act for the agent */
  async claim(
    principal: Principal,
    request: RunnerClaimRequest,
    longPoll: LongPoll,
    recordResponse: RecordResponse<RunnerClaimed>,
  ): Promise<RunnerClaimed> {
    const { liveness, messages, taskClaims } = this.ports;
    const { workspace, leaseSeconds, waitMs, tools, taskId, project, readUntil } = request;
    const name = request.agentId ?? principal.agent_id;
    if (name === undefined)
      throw new MusterError('REQUIRED_FIELD', 'agentId is missing. A person can only claim a task for an agent.', {
        field: 'agentId',
        reason: 'MISSING',
        suggestion: "Set agentId to one of your agents, or call with that agent's credential.",
      });
    const agent = await liveness.acting(principal, workspace, name);
    const { id: agentId, readsMessages } = agent;
    if (readUntil !== undefined) {
      // Messages about other tasks were not returned with the claim, so this id does not confirm them.
      const isRead = ({ id, task_id }: Message) => id === readUntil || (id < readUntil && task_id === undefined);
      await messages.markRead(agent, workspace, isRead, () => undefined);
    }
    const runner = { capabilities: tools?.map(toolCapability), project, taskId };
    const claim = { workspace, agentId, readsMessages, leaseSeconds, runner, by: principal };
    const record = recordedAs(agentId, (outcome: ClaimOutcome) => recordResponse(claimedBy(outcome)));
    return claimedBy(await taskClaims.claimOrWait(claim, waitMs, longPoll, record));
  }

  /** MusterError NOT_FOUND; VALIDATION_ERROR if entries are out of order or too large */
  append(
    principal: Principal,
    request: HeartbeatReport & { readonly entries: readonly NumberedEntry[] },
    recordResponse: RecordResponse<Appended>,
  ): Promise<Appended> {
    const { entries, epoch, taskId } = request;
    checkEntries(entries);
    const { taskLogs, store } = this.ports;
    return changeTask(this.ports, request, async (found, now) => {
      const { answer, changes } = await this.report(principal, found, { ...request, state: 'started' }, now);
      const head = await taskLogs.head(taskId);
      const isLogged = answer.stop?.reason !== 'claim_lost';
      const appending = appendNumbered(head?.value, epoch, isLogged ? entries : []);
      const appended = { ...answer, accepted: appending.accepted, next: appending.next };
      await store.commit([...changes, ...appendChanges(found.value, head, appending)], recordResponse(appended));
      return appended;
    });
  }

  /**
   * Renews the lease, and waits up to `waitMs`, but at most half of the lease, for a message or the end of the task.
   * MusterError NOT_FOUND; CONFLICT if the new state is an earlier one
   */
  async heartbeat(
    principal: Principal,
    request: HeartbeatReport & { readonly waitMs?: number | undefined },
    { disconnectSignal, trackWait }: LongPoll,
    recordResponse: RecordResponse<Heartbeat>,
  ): Promise<Heartbeat> {
    const { workspace, taskId, waitMs = 0, receivedUntil = '' } = request;
    let until: AbortSignal | undefined;
    let isThere = false;
    let { files } = request;
    for (;;) {
      const isLast = until?.aborted ?? waitMs === 0;
      const { answer, agent, ends, version, leaseSeconds } = await changeTask(
        this.ports,
        request,
        async (found, now) => {
          const { answer, agent, changes } = await this.report(principal, found, { ...request, isThere }, now);
          if (files !== undefined && answer.stop === undefined) await this.fileTouches.touch(found, files);
          files = undefined;
          const ends = isLast || answer.stop !== undefined || answer.messages.length > 0;
          await this.ports.store.commit(changes, ends ? recordResponse(answer) : undefined);
          return { answer, agent, ends, version: found.version, leaseSeconds: found.value.claim?.lease_seconds ?? 0 };
        },
      );
      if (ends || agent === undefined) return answer;
      until ??= AbortSignal.any([disconnectSignal(), AbortSignal.timeout(Math.min(waitMs, leaseSeconds * 500))]);
      const isNew = (one: Message) => one.id > receivedUntil && one.workspace === workspace && isForTask(one, taskId);
      const isAwaited = (message: Message) => agent.readsMessages && isNew(message);
      isThere = await trackWait(this.ports.mailboxes.arrival(agent.id, { id: taskId, version }, isAwaited, until));
      if (disconnectSignal().aborted) return answer;
    }
  }

  /** Returns the response to a report, and its changes: those of the lease, and those that confirm messages. */
  private async report(
    principal: Principal,
    found: Versioned<CodingTask>,
    sign: HeartbeatReport,
    now: Date,
  ): Promise<{ answer: Heartbeat; agent?: ActingAgent; changes: readonly CodingChange[] }> {
    const { claimant, agent } = await claimantOf(this.ports, principal, found.value, sign.epoch);
    const { answer, changes } = await this.keepAlive(found, claimant, sign, now);
    if (agent === undefined) return { answer: { ...answer, messages: [] }, changes };
    const mail = await this.ports.messages.receive(agent, sign);
    const messages = answer.stop === undefined ? mail.unread : [];
    return { answer: { ...answer, messages }, agent, changes: [...changes, ...mail.changes] };
  }

  /** Returns the changes of a heartbeat: that of the task, and that of the agent if an expired lease is restored. */
  private async keepAlive(
    found: Versioned<CodingTask>,
    claimant: Claimant,
    sign: HeartbeatReport,
    now: Date,
  ): Promise<{ answer: Omit<Heartbeat, 'messages'>; changes: readonly CodingChange[] }> {
    const { value: before, version } = found;
    const { claim, status } = before;
    const isTheirs = claim?.claimed_by === claimant.agent_id && claim.claim_epoch === claimant.claim_epoch;
    if (isTheirs && isClosed(status)) {
      const why = before.error === undefined ? '' : ` ${terminalText(before.error)}`;
      const message = `Task ${before.id} has ended; its status is ${codingStatus(status)}.${why}`;
      return { answer: { stop: { reason: 'ended', message } }, changes: [] };
    }
    const isHolding = isTheirs && isHeld(status);
    const held = isHolding ? before : restoredTask(before, claimant, now);
    if (held === undefined) {
      const message = `The claim of task ${before.id} with epoch ${claimant.claim_epoch} is no longer valid.`;
      return { answer: { stop: { reason: 'claim_lost', message } }, changes: [] };
    }
    const task = withRenewedLease(held, claimant, sign, now);
    const answer = { leaseUntil: task.claim?.lease_expires_at };
    if (task === before) return { answer, changes: [] };
    if (task.status === status) return { answer, changes: [{ kind: 'replaceTask', task, before, version }] };
    if (isHolding) return { answer, changes: taskChanges(before, task, version, now) };
    const agent = await this.ports.agents.find(claimant.agent_id);
    if (agent === undefined) throw new Error(`The agent that held task ${task.id} no longer exists.`);
    const files = await filesFor(this.ports, task);
    return { answer, changes: [...claimChanges(found, files.task, agent, now), ...files.changes] };
  }
}

function claimedBy(outcome: ClaimOutcome): RunnerClaimed {
  if (outcome.kind === 'none') return { task: undefined, messages: [] };
  const task = asCodingTask(outcome.task);
  const { messages = [], shared = [] } = outcome;
  return { task, shared, messages: messages.filter((message) => isForTask(message, task.id)) };
}

/** Updates the state, and renews the lease if it is due. @throws MusterError CONFLICT for an earlier state */
function withRenewedLease(
  held: CodingTask,
  claimant: Claimant,
  { state, progress, hearing }: HeartbeatReport,
  now: Date,
): CodingTask {
  const moved = withState(held, claimant, state, now);
  const isMoving = progress !== undefined && progress !== moved.coding.progress;
  const shown = isMoving ? { ...moved, coding: { ...moved.coding, progress } } : moved;
  const isNews = hearing !== undefined && shown.claim !== undefined && hearing !== shown.claim.hearing;
  const task = isNews ? { ...shown, claim: { ...shown.claim, hearing } } : shown;
  const { claim } = task;
  if (claim === undefined) return task;
  const left = claim.lease_expires_at.getTime() - now.getTime();
  // If the task is written for another reason, renewing the lease needs no additional write.
  const isDue = task !== held || left < claim.lease_seconds * 1000 * RENEWAL_SHARE;
  return isDue ? asCodingTask(renewLease(task, now)) : task;
}

function withState(task: CodingTask, claimant: Claimant, state: HeartbeatReport['state'], now: Date): CodingTask {
  if (state === undefined) return task;
  const started = task.status === 'claimed' ? asCodingTask(startTask(task, claimant, now)) : task;
  if (state === 'waiting' && started.status === 'in_progress') return asCodingTask(waitTask(started, claimant));
  if (state === 'in_progress' && started.status === 'waiting')
    throw new MusterError('CONFLICT', `Task "${task.id}" is waiting and cannot be set to in_progress again.`, {
      field: 'state',
      reason: 'WRONG_STATE',
      suggestion: 'Omit state to renew the lease, or report the outcome with coding.end_task.',
    });
  return started;
}

function checkEntries(entries: readonly NumberedEntry[]): void {
  requireSize('A batch of entries', 'entries', entries, MAX_APPEND_BYTES);
  for (const [index, { sequence, data }] of entries.entries()) {
    const before = entries[index - 1];
    if (before !== undefined && before.sequence >= sequence)
      throw new MusterError('VALIDATION_ERROR', 'Log entries are out of order.', {
        field: `entries.${index}.sequence`,
        reason: 'OUT_OF_ORDER',
        suggestion: 'Each sequence must be greater than the previous one. Nothing was appended.',
      });
    if (data !== undefined) requireSize("An entry's data", `entries.${index}.data`, data, MAX_DATA_BYTES);
  }
}
