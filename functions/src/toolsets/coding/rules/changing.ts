/** Moving coding tasks on, and ending them. Source: spec/coding.md, update_task and end_task. */

import type { Principal } from '../../../access/rules/principal.ts';
import type { Change, RecordAnswer, Versioned } from '../../../kernel/commit.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { Service } from '../../../kernel/ports.ts';
import { retryStale } from '../../../kernel/waiting.ts';
import {
  type CodingExpiry,
  type CodingTask,
  isHeld,
  outcomeChanges,
  queueGrowth,
  requireCodingTask,
  type SessionReader,
} from '../../coordination/index.ts';
import { packResult, type Seen } from './coding.ts';
import {
  type Ended,
  type Ending,
  type EndReport,
  endByDecision,
  endByLeaseExpiry,
  endByQueueExpiry,
  endByRunner,
} from './ending.ts';
import { startByDecision } from './holding.ts';
import { type Appending, appendNote, type LogEntry, type LogHead } from './log.ts';
import { type Acting, authoriseDeciding, type CodingPorts, claimantOf, isHolder } from './task.ts';

/** Which task, in which workspace. */
interface TaskAddress {
  readonly workspace: string;
  readonly taskId: string;
}

interface UpdateRequest extends TaskAddress {
  readonly status?: 'in_progress' | 'completed' | 'failed' | undefined;
  readonly log?: string | undefined;
}

interface EndRequest extends TaskAddress, EndReport {
  /** Of the claim, where its runner reports. */
  readonly epoch?: number | undefined;
}

export class CodingChanges extends Service<CodingPorts> {
  private readonly acting: Acting;

  constructor(ports: CodingPorts, acting: Acting) {
    super(ports);
    this.acting = acting;
  }

  /** @throws MusterError NOT_FOUND; FORBIDDEN; CONFLICT where the status would go back */
  async update(
    principal: Principal,
    request: UpdateRequest,
    recordAnswer: RecordAnswer<Seen>,
  ): Promise<Seen> {
    const { status, log } = request;
    if (status === undefined && log === undefined) throw nothingToUpdate();
    if (status === 'completed' || status === 'failed') {
      return this.end(principal, { ...request, status }, recordAnswer, log);
    }
    return this.change(request, async (found, now) => {
      const { value: before } = found;
      if (!isHolder(principal, before)) authoriseDeciding(principal, before);
      const { task, changes } =
        status === undefined
          ? { task: before, changes: [] }
          : await startByDecision(this.ports, principal, found, now);
      await this.ports.store.commit(
        [...changes, ...(await this.noted(before, principal, log, now))],
        recordAnswer({ task, now }),
      );
      return { task, now };
    });
  }

  /**
   * @param log a line for the task's log
   * @throws MusterError NOT_FOUND; FORBIDDEN; CONFLICT where the claim or the state stands against it
   */
  end(
    principal: Principal,
    request: EndRequest,
    recordAnswer: RecordAnswer<Ended>,
    log?: string,
  ): Promise<Ended> {
    return this.change(request, async ({ value: before, version }, now) => {
      const ending = await this.decide(principal, before, request, now);
      const packed =
        request.result === undefined || !isFinal(ending)
          ? undefined
          : packResult(before.id, ending.task.epoch, request.result);
      const task = packed
        ? { ...ending.task, coding: { ...ending.task.coding, result: packed.stored } }
        : ending.task;
      const ended = { task, now, outcome: ending.outcome };
      await this.ports.store.commit(
        [
          ...(await endingChanges(this.ports.sessions, before, { ...ending, task }, version)),
          ...(packed ? [packed.change] : []),
          ...(await this.noted(before, principal, log, now)),
        ],
        recordAnswer(ended),
      );
      return ended;
    });
  }

  private async decide(
    principal: Principal,
    before: CodingTask,
    request: EndRequest,
    now: Date,
  ): Promise<Ending> {
    const own = isHolder(principal, before) && isHeld(before.status) ? before.claim?.epoch : undefined;
    const epoch = request.epoch ?? own;
    if (epoch !== undefined) {
      const claimant = await claimantOf(this.acting, principal, before, epoch);
      return endByRunner(before, claimant, request, now);
    }
    authoriseDeciding(principal, before);
    return endByDecision(before, request, principal.agentId ?? principal.uid, now);
  }

  private async noted(
    task: CodingTask,
    principal: Principal,
    log: string | undefined,
    now: Date,
  ): Promise<readonly Change[]> {
    if (log === undefined) return [];
    const note: LogEntry = {
      at: now,
      level: 'info',
      type: isHolder(principal, task) ? 'agent' : 'system',
      prefix: principal.agentId ?? principal.uid,
      message: log,
    };
    const head = await this.ports.taskLogs.head(task.id);
    return appendChanges(task, head, appendNote(head?.value, note));
  }

  private change<Result>(
    { workspace, taskId }: TaskAddress,
    attempt: (task: Versioned<CodingTask>, now: Date) => Promise<Result>,
  ): Promise<Result> {
    const { tasks, clock, randomness } = this.ports;
    return retryStale(randomness, async () =>
      attempt(requireCodingTask(await tasks.find(taskId), taskId, workspace), clock.now()),
    );
  }
}

/** Whether the task has ended with this result, or had ended without one. */
function isFinal({ outcome }: Ending): boolean {
  return outcome === 'ended' || outcome === 'kept';
}

function nothingToUpdate(): MusterError {
  return new MusterError('VALIDATION_ERROR', 'There is nothing to update.', {
    field: 'status',
    reason: 'NOTHING_TO_UPDATE',
    suggestion: 'Give a status, a log message, or both.',
  });
}

// What changes when a coding task ends or says something, in the one commit that changes it.

export function appendChanges(
  { id, workspace }: CodingTask,
  head: Versioned<LogHead> | undefined,
  { writes }: Appending,
): Change[] {
  return writes.map((write) => ({
    kind: 'appendLog',
    task: { id, workspace },
    write,
    ...(!write.isNew && head !== undefined && { version: head.version }),
  }));
}

/** Everything that an end brings about: the task, its holder, its dependents, the queue. */
async function endingChanges(
  sessions: SessionReader,
  before: CodingTask,
  { task, now, outcome, effect }: Ending,
  version: string,
): Promise<Change[]> {
  if (outcome === 'repeated') return [];
  if (effect === undefined) return [{ kind: 'replaceTask', task, version }];
  const changes = outcomeChanges(before, { ...effect, task }, version, now);
  const frees =
    task.status === 'available' ? task.blockers === 0 : task.status === 'done' && task.dependents.length > 0;
  return frees ? [...changes, ...(await queueGrowth(sessions, task))] : changes;
}

/** What the sweep of the queue does to coding tasks: it ends an attempt whose runner fell silent, and a wait in vain. */
export function codingExpiry(sessions: SessionReader): CodingExpiry {
  return {
    leaseExpired: ({ value, version }, now) =>
      endingChanges(sessions, value, endByLeaseExpiry(value, now), version),
    queueExpired: ({ value, version }, now) =>
      endingChanges(sessions, value, endByQueueExpiry(value, now), version),
  };
}
