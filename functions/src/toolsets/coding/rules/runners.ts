/** Coding tasks, as runners work them: claim, report, stay alive. Source: docs/guides/runner.md. */

import type { Principal } from '../../../access/rules/principal.ts';
import type { Change, RecordAnswer, Versioned } from '../../../kernel/commit.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { requireSize } from '../../../kernel/json.ts';
import { Service } from '../../../kernel/ports.ts';
import { type LongPoll, retryStale } from '../../../kernel/waiting.ts';
import {
  asCodingTask,
  type Claimant,
  type CodingTask,
  type CodingTool,
  claimChanges,
  programOf,
  requireCodingTask,
  type TaskClaims,
  taskChanges,
} from '../../coordination/index.ts';
import { appendChanges } from './changing.ts';
import { applyHeartbeat, type ClaimStatus, claimStatusOf, type Stop } from './holding.ts';
import { appendNumbered, type NumberedEntry } from './log.ts';
import { type Acting, type CodingPorts, claimantOf } from './task.ts';

interface RunnerClaimRequest {
  readonly workspace: string;
  readonly agentId?: string | undefined;
  readonly tools?: readonly CodingTool[] | undefined;
  readonly project?: string | undefined;
  readonly taskId?: string | undefined;
  readonly waitMs: number;
  readonly leaseSeconds: number;
}

/** A claim of a runner. */
interface ClaimAddress {
  readonly workspace: string;
  readonly taskId: string;
  readonly epoch: number;
}

interface AppendRequest extends ClaimAddress {
  readonly entries: readonly NumberedEntry[];
}

interface HeartbeatRequest extends ClaimAddress {
  readonly state?: 'in_progress' | 'waiting' | undefined;
  readonly progress?: string | undefined;
}

/** How a runner stands after a call: it has its lease until then, or is to stop. */
export interface Heartbeat {
  readonly leaseUntil?: Date;
  readonly stop?: Stop;
}

export interface Appended extends Heartbeat {
  readonly accepted: number;
  /** The number of the line after these. */
  readonly next: number;
}

/** What one call appends, in bytes of JSON. */
const MAX_APPEND_BYTES = 256 * 1024;
const MAX_DATA_BYTES = 16 * 1024;

export class CodingRunners extends Service<CodingPorts> {
  private readonly taskClaims: TaskClaims;
  private readonly acting: Acting;

  constructor(ports: CodingPorts, taskClaims: TaskClaims, acting: Acting) {
    super(ports);
    this.taskClaims = taskClaims;
    this.acting = acting;
  }

  /**
   * Claims a task, or waits for one; undefined where there was none in time.
   * @throws MusterError NOT_FOUND for an agent or a task; FORBIDDEN for another's agent
   */
  async claim(
    principal: Principal,
    request: RunnerClaimRequest,
    { gone, waiting }: LongPoll,
    recordAnswer: RecordAnswer<CodingTask | undefined>,
  ): Promise<CodingTask | undefined> {
    const { codingWatch, store } = this.ports;
    const { workspace, leaseSeconds, waitMs, tools, taskId, project } = request;
    const agentId = request.agentId ?? principal.agentId;
    if (agentId === undefined) throw noAgent();
    await this.acting.actAs(principal, agentId);
    const until = waitMs === 0 ? AbortSignal.abort() : AbortSignal.any([gone(), AbortSignal.timeout(waitMs)]);
    const runner = { capabilities: tools?.map(programOf), project, taskId };
    for (;;) {
      const outcome = await this.taskClaims.claim({ workspace, agentId, leaseSeconds, runner }, (claimed) =>
        claimed.kind === 'none' ? undefined : recordAnswer(asCodingTask(claimed.task)),
      );
      if (outcome.kind !== 'none') return asCodingTask(outcome.task);
      if (until.aborted) break;
      await waiting(codingWatch.queueGrowth(workspace, outcome.mark, until));
      // Nobody is there to hear of a claim.
      if (until.aborted && gone().aborted) break;
    }
    await store.commit([], recordAnswer(undefined));
    return undefined;
  }

  /** @throws MusterError NOT_FOUND; VALIDATION_ERROR for entries out of order or too large */
  append(
    principal: Principal,
    request: AppendRequest,
    recordAnswer: RecordAnswer<Appended>,
  ): Promise<Appended> {
    const { entries, epoch, taskId } = request;
    checkEntries(entries);
    const { taskLogs, store, clock } = this.ports;
    return this.change(principal, request, async (found, claimant) => {
      const now = clock.now();
      const head = await taskLogs.head(taskId);
      const standing = claimStatusOf(found.value, claimant, now);
      const isLogged = standing.kind !== 'lost';
      const appending = appendNumbered(head?.value, epoch, isLogged ? entries : []);
      const moved =
        standing.kind === 'holds' ? applyHeartbeat(standing, claimant, 'started', undefined, now) : standing;
      const answer = { ...answerOf(moved), accepted: appending.accepted, next: appending.next };
      await store.commit(
        [...(await this.moveChanges(found, moved, now)), ...appendChanges(found.value, head, appending)],
        recordAnswer(answer),
      );
      return answer;
    });
  }

  /** @throws MusterError NOT_FOUND; CONFLICT where the state would go back */
  heartbeat(
    principal: Principal,
    request: HeartbeatRequest,
    recordAnswer: RecordAnswer<Heartbeat>,
  ): Promise<Heartbeat> {
    const { state, progress } = request;
    return this.change(principal, request, async (found, claimant) => {
      const now = this.ports.clock.now();
      const standing = claimStatusOf(found.value, claimant, now);
      const moved =
        standing.kind === 'holds' ? applyHeartbeat(standing, claimant, state, progress, now) : standing;
      const answer = answerOf(moved);
      await this.ports.store.commit(await this.moveChanges(found, moved, now), recordAnswer(answer));
      return answer;
    });
  }

  /** What changes of the task; and of its agent, where the claim had lapsed and is its own again. */
  private async moveChanges(
    { value: before, version }: Versioned<CodingTask>,
    standing: ClaimStatus,
    now: Date,
  ): Promise<readonly Change[]> {
    if (standing.kind !== 'holds' || standing.task === before) return [];
    const { task, isRestored } = standing;
    if (!isRestored) {
      return before.status === task.status
        ? [{ kind: 'replaceTask', task, version }]
        : taskChanges(before, task, version, now);
    }
    const agent = await this.ports.agents.find(task.claim?.agentId ?? '');
    if (agent === undefined) throw new Error(`The agent that held task ${task.id} is gone.`);
    return claimChanges({ value: before, version }, task, agent, now);
  }

  private change<Result>(
    principal: Principal,
    { workspace, taskId, epoch }: ClaimAddress,
    attempt: (task: Versioned<CodingTask>, claimant: Claimant) => Promise<Result>,
  ): Promise<Result> {
    const { tasks, randomness } = this.ports;
    return retryStale(randomness, async () => {
      const found = requireCodingTask(await tasks.find(taskId), taskId, workspace);
      return attempt(found, await claimantOf(this.acting, principal, found.value, epoch));
    });
  }
}

function answerOf(standing: ClaimStatus): Heartbeat {
  if (standing.kind !== 'holds') return { stop: standing.stop };
  const { claim } = standing.task;
  return claim === undefined ? {} : { leaseUntil: claim.leaseExpiresAt };
}

function checkEntries(entries: readonly NumberedEntry[]): void {
  requireSize('The entries', 'entries', entries, MAX_APPEND_BYTES);
  for (const [index, { sequence, data }] of entries.entries()) {
    const before = entries[index - 1];
    if (before !== undefined && before.sequence >= sequence) throw outOfOrder(index);
    if (data !== undefined)
      requireSize('The data of an entry', `entries.${index}.data`, data, MAX_DATA_BYTES);
  }
}

function outOfOrder(index: number): MusterError {
  return new MusterError('VALIDATION_ERROR', 'The entries are not in the order of their sequence.', {
    field: `entries.${index}.sequence`,
    reason: 'OUT_OF_ORDER',
    suggestion: 'Each sequence is greater than the one before it. Nothing was appended.',
  });
}

function noAgent(): MusterError {
  return new MusterError('REQUIRED_FIELD', 'A person claims for an agent: name it.', {
    field: 'agentId',
    reason: 'MISSING',
    suggestion: 'Give the id of an agent of yours, or call with the credential of one.',
  });
}
