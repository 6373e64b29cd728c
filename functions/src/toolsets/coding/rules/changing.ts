/** Updates of coding tasks, and their end. Source: the coding specification, update_task and end_task. */
import { agentNotRegistered } from '../../../agents/rules/agent.ts';
import { recordedAs } from '../../../agents/rules/liveness.ts';
import type { Principal } from '../../../identity/rules/principal.ts';
import type { RecordResponse, Versioned } from '../../../kernel/commit.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { Service } from '../../../kernel/ports.ts';
import {
  asCodingTask,
  budgetRefusal,
  type CodingTask,
  claimChanges,
  claimedBy,
  claimTask,
  closedRuling,
  codingClaimed,
  DEFAULT_LEASE_SECONDS,
  filesFor,
  isHeld,
  isVerifying,
  notClaimable,
  ownerState,
  recordStart,
  requireTaskManager,
  startTask,
  taskChanges,
  usageChanges,
  withAuthor,
  withoutFileWait,
} from '../../coordination/index.ts';
import { endByDecision, endByRunner, endingChanges, isSentBack, withCheckedCommit, withResult } from './ending.ts';
import { appendChanges, appendNote, type LogEntry } from './log.ts';
import type { CodingChange } from './ports.ts';
import {
  type CodingPorts,
  changeTask,
  claimantOf,
  codingStatus,
  type EndedTask,
  type EndReport,
  isHolder,
  type ReadTask,
  type TaskReference,
} from './task.ts';

interface UpdateRequest extends TaskReference {
  readonly status?: 'in_progress' | 'completed' | 'failed' | undefined;
  readonly log?: string | undefined;
}

interface EndRequest extends TaskReference, EndReport {
  /** Claim epoch, if the holder of the task sends the report. */
  readonly epoch?: number | undefined;
  readonly log?: string | undefined;
}

interface StartedTask extends Pick<ReadTask, 'task' | 'shared'> {
  readonly changes: readonly CodingChange[];
}

export class CodingChanges extends Service<CodingPorts> {
  /** MusterError NOT_FOUND; FORBIDDEN; CONFLICT if the new status is an earlier one */
  async update(
    principal: Principal,
    request: UpdateRequest,
    recordResponse: RecordResponse<ReadTask>,
  ): Promise<ReadTask> {
    const { status, log } = request;
    if (status === undefined && log === undefined) throw nothingToUpdate();
    if (status === 'completed' || status === 'failed')
      return this.end(principal, { ...request, status }, recordResponse);
    return changeTask(this.ports, request, async (found, now) => {
      const { value: before } = found;
      if (!isHolder(principal, before)) requireTaskManager(principal, before, 'taskId');
      const { task, changes, shared }: StartedTask =
        status === undefined ? { task: before, changes: [] } : await this.start(principal, found, now);
      const noted = await this.withNote(before, principal, log, now);
      const read = { task, now, ...(shared && { shared }) };
      await this.ports.store.commit([...changes, ...noted], recordResponse(read));
      return read;
    });
  }

  /** MusterError NOT_FOUND; FORBIDDEN; CONFLICT if the claim or the status of the task does not allow the end */
  end(principal: Principal, request: EndRequest, recordResponse: RecordResponse<EndedTask>): Promise<EndedTask> {
    const { sessions, store } = this.ports;
    return changeTask(this.ports, request, async ({ value: before, version }, now) => {
      const decided = await this.decide(principal, before, request, now);
      const { end: stored, changes } = withResult(decided, request.result);
      const { end, changes: proved } = await this.proved(principal, before, stored, request);
      const isOfClaim = request.epoch !== undefined && request.epoch === before.claim?.claim_epoch;
      const acting = (isOfClaim ? before.claim?.claimed_by : principal.agent_id) ?? principal.uid;
      await store.commit(
        [
          ...(await endingChanges(sessions, before, end, version)),
          ...(await usageChanges(this.ports, before, end.task)),
          ...changes,
          ...proved,
          ...(await this.withNote(before, principal, request.log, now)),
        ],
        recordedAs(acting, recordResponse)(end),
      );
      return end;
    });
  }

  /** Begins the check of a handed-in result, sends a failed one back, or gives the verdict of a command run. */
  private async proved(principal: Principal, before: CodingTask, end: EndedTask, { result, failure }: EndReport) {
    const { proofs } = this.ports;
    const { now, outcome } = end;
    if (outcome !== 'ended') return { end, changes: [] };
    const task = withCheckedCommit(end.task, result);
    if (task.reviews !== undefined) {
      const { changes } = await proofs.judged({ id: task.id, ...task.reviews }, closedRuling(task), now);
      return { end: { ...end, task }, changes };
    }
    if (!isVerifying(task)) return { end, changes: await proofs.endCheck(before, now) };
    const agentId = before.claim?.claimed_by ?? principal.agent_id ?? principal.uid;
    const own = withAuthor(task, agentId, principal.uid);
    const comments = failure?.message ?? '';
    const next = isSentBack(before, failure)
      ? await proofs.ruled(own, { says: 'request_changes', by: 'muster', step: 'command', comments }, now)
      : await proofs.begun(own, now);
    const { status } = next.task;
    const how = status === 'waiting' ? 'verifying' : status === 'available' ? 'sent_back' : 'ended';
    return { end: { ...end, task: asCodingTask(next.task), outcome: how } as const, changes: next.changes };
  }

  private async decide(principal: Principal, before: CodingTask, request: EndRequest, now: Date): Promise<EndedTask> {
    const own = isHolder(principal, before) && isHeld(before.status) ? before.claim?.claim_epoch : undefined;
    const epoch = request.epoch ?? own;
    if (epoch !== undefined) {
      const { claimant } = await claimantOf(this.ports, principal, before, epoch);
      return endByRunner(before, claimant, request, now);
    }
    requireTaskManager(principal, before, 'taskId');
    return endByDecision(before, request, principal, now);
  }

  /**
   * Claims an unclaimed task for a caller that works without a runner, so that an expired lease shows that the work
   * has stopped. If a runner has claimed the task, only the status becomes in progress: the claim and the lease stay.
   * @throws MusterError CONFLICT if the task has ended or cannot be claimed, or if the caller cannot hold tasks
   */
  private async start(principal: Principal, found: Versioned<CodingTask>, now: Date): Promise<StartedTask> {
    const { value: before, version } = found;
    if (codingStatus(before.status) === 'in_progress') return { task: before, changes: [] };
    if (before.status === 'available') return this.startWithNote(principal, found, now);
    const claimant = { agent_id: principal.agent_id ?? principal.uid };
    const task = isHolder(principal, before) ? startTask(before, claimant, now) : recordStart(before, now);
    return { task: asCodingTask(task), changes: taskChanges(before, task, version, now) };
  }

  private async startWithNote(principal: Principal, found: Versioned<CodingTask>, now: Date): Promise<StartedTask> {
    const { agent_id } = principal;
    const { agents, sessions } = this.ports;
    const { id, workspace, session } = found.value;
    if (agent_id === undefined)
      throw new MusterError('CONFLICT', `Task "${id}" is unclaimed, and people cannot hold tasks.`, {
        field: 'status',
        reason: 'NOT_HOLDER',
        suggestion:
          'Call as an agent, claim the task for one of your agents with coding.claim_task {taskId, agentId}, or start a runner.',
      });
    const refusal = await budgetRefusal(this.ports, found.value);
    if (refusal !== undefined)
      throw notClaimable(id, 'a budget of the task is exhausted', 'Raise the budget with system.setBudget.');
    const [agent, open] = await Promise.all([agents.find(agent_id), sessions.current(workspace)]);
    if (agent === undefined) throw agentNotRegistered(agent_id);
    if ((await ownerState(this.ports, found.value, agent.value)) !== 'works')
      throw notClaimable(id, 'its owner no longer has the role worker in the workspace', 'Create another task.');
    if (open?.session.id !== session) throw notClaimable(id, 'its session is archived', 'Create another task.');
    // A caller that names the task shares its files with those who have them.
    const taken = claimTask(withoutFileWait(found.value), agent_id, DEFAULT_LEASE_SECONDS, now);
    const claimed = codingClaimed(claimedBy(taken, agent.value, principal), undefined);
    const { task, changes, shared } = await filesFor(this.ports, startTask(claimed, { agent_id }, now));
    return { task: asCodingTask(task), changes: [...claimChanges(found, task, agent, now), ...changes], shared };
  }

  private async withNote(
    task: CodingTask,
    principal: Principal,
    log: string | undefined,
    now: Date,
  ): Promise<readonly CodingChange[]> {
    if (log === undefined) return [];
    const note: LogEntry = {
      at: now,
      level: 'info',
      type: isHolder(principal, task) ? 'agent' : 'system',
      prefix: principal.agent_id ?? principal.uid,
      message: log,
    };
    const head = await this.ports.taskLogs.head(task.id);
    return appendChanges(task, head, appendNote(head?.value, note));
  }
}

function nothingToUpdate(): MusterError {
  return new MusterError('VALIDATION_ERROR', 'Nothing to update.', {
    field: 'status',
    reason: 'NOTHING_TO_UPDATE',
    suggestion: 'Set status, log or both.',
  });
}
