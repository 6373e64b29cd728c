/**
 * Progress of a claimed task: start, complete, fail. Each is one optimistic commit of the task, its holder and the
 * session's counters. Source: the coordination specification, "Worker Tools"; docs/semantics.md#coordination.
 */
import { hasRoleIn, type Principal } from '../../../identity/rules/principal.ts';
import type { RecordResponse, Versioned } from '../../../kernel/commit.ts';
import { retryOnConflict } from '../../../kernel/concurrency.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { MAX_REPORT_BYTES, requireSize } from '../../../kernel/json.ts';
import { readUnreadable, Service, skipUnreadable } from '../../../kernel/ports.ts';
import { unreservedFiles } from './files/reserving.ts';
import { queueGrowth } from './openSession.ts';
import type { CoordinationPorts } from './ports.ts';
import { isAuthor } from './proof/checks.ts';
import { closedRuling, Proofs } from './proof/proofs.ts';
import { isVerifying, withAuthor } from './proof/proving.ts';
import { finishTask, partsChanged, reportOutcome, startTask } from './stateMachine.ts';
import {
  type Claimant,
  isClosed,
  type ReportedOutcome,
  type Task,
  type TaskOutcome,
  type TaskResult,
  taskNotFound,
} from './task.ts';
import { noteWritten, outcomeChanges, taskChanges } from './taskChanges.ts';

/** Maximum share of a response for the tasks of one queue status, because a response can contain two such lists. */
export const MAX_STATE_SHARE = 0.5;

interface Report {
  readonly claimant: Claimant;
  readonly outcome: ReportedOutcome;
  /** Uid of the credential that registered the claimant, if it is a terminal. */
  readonly registered_by?: string | undefined;
}

export class TaskQueue extends Service<CoordinationPorts> {
  private readonly proofs = new Proofs(this.ports);

  /** Starts a claimed task. Starting it again with the same claim changes nothing. */
  async start(
    principal: Principal,
    taskId: string,
    claimant: Claimant,
    recordResponse: RecordResponse<Task>,
  ): Promise<Task> {
    const decide = (before: Task, now: Date) => ({ task: startTask(before, claimant, now) });
    const { task } = await this.change(taskId, workerIn(principal), decide, async (found, { task }, now) => {
      const changes = task === found.value ? [] : taskChanges(found.value, task, found.version, now);
      await this.ports.store.commit(changes, { ...recordResponse(task), onVersion: noteWritten(this.ports, task) });
      return { task };
    });
    return task;
  }

  /** Closes a task, and unblocks its dependents or marks them as stuck. @throws MusterError NOT_FOUND; CONFLICT */
  async reportOutcome(
    principal: Principal,
    taskId: string,
    report: Report,
    recordResponse: RecordResponse<TaskOutcome>,
  ): Promise<TaskOutcome> {
    const { claimant, outcome } = report;
    requireSize('A report', outcome.kind === 'done' ? 'output' : 'error', outcome, MAX_REPORT_BYTES);
    const decide = (before: Task, now: Date) => {
      requireReportable(before, report, principal);
      const reported = reportOutcome(before, claimant, outcome, now);
      const isAuthors = reported.kind === 'accepted' && before.acceptance !== undefined && outcome.kind === 'done';
      return isAuthors ? { ...reported, task: withAuthor(reported.task, claimant.agent_id, principal.uid) } : reported;
    };
    return this.change(taskId, workerIn(principal), decide, async (found, decided, now) => {
      const shared = outcome.kind === 'done' ? await unreservedFiles(this.ports, found.value, outcome.result) : [];
      return this.commit(found, { ...decided, shared }, now, recordResponse);
    });
  }

  /** Completes a task whose pull request was merged. A closed task stays unchanged. @throws MusterError NOT_FOUND */
  finish(taskId: string, result: TaskResult, commit?: string): Promise<TaskOutcome> {
    const decide = (before: Task, now: Date) => {
      const merged = { step: 'merged', by: 'github', at: now, ...(commit !== undefined && { commit }) };
      return finishTask(before, result, merged, now);
    };
    const isAnywhere = () => true;
    return this.change(taskId, isAnywhere, decide, (found, outcome, now) => this.commit(found, outcome, now));
  }

  /**
   * Updates a task that waits for its parts, after a part changed. Completes the task if all parts are done, or
   * stores which parts failed. The function reads the current state, so events can be repeated, late or out of order.
   */
  partsChanged(taskId: string): Promise<void> {
    const { tasks, graph, store, clock, randomness } = this.ports;
    return retryOnConflict(randomness, async () => {
      const found = await skipUnreadable(tasks.find(taskId));
      if (found?.value.parts_awaited === undefined || found.value.status !== 'waiting') return;
      const { value: before, version } = found;
      const now = clock.now();
      const task = partsChanged(before, await graph.progressOf({ kind: 'task', id: taskId }), now);
      if (task.status === 'done' || isVerifying(task))
        return void (await this.commit(found, { kind: 'accepted', task }, now));
      if (task !== before) await store.commit([{ kind: 'replaceTask', before, task, version }]);
    });
  }

  /** Commits an outcome, and with it the check of a result that is handed in, or the effect of a verdict. */
  private async commit(
    { value: before, version }: Versioned<Task>,
    decided: TaskOutcome,
    now: Date,
    recordResponse: RecordResponse<TaskOutcome> = () => undefined,
  ): Promise<TaskOutcome> {
    const { sessions, store } = this.ports;
    const { outcome, changes } = await this.proved(before, decided, now);
    const own = outcome.kind === 'repeated' ? [] : outcomeChanges(before, outcome, version, now);
    const frees = own.length > 0 && outcome.task.status === 'done' && before.dependents.length > 0;
    const grown = frees ? await queueGrowth(sessions, before) : [];
    await store.commit([...own, ...changes, ...grown], recordResponse(outcome));
    return outcome;
  }

  private async proved(before: Task, outcome: TaskOutcome, now: Date) {
    const { proofs } = this;
    const { kind, task } = outcome;
    const { reviews } = task;
    if (reviews !== undefined && task.status === 'done') {
      // A repeated report finds that its check is over, and changes nothing.
      const { changes, ...reviewed } = await proofs.judged({ id: task.id, ...reviews }, closedRuling(task), now);
      return { outcome: { ...outcome, reviewed }, changes: kind === 'accepted' ? changes : [] };
    }
    if (kind !== 'accepted') return { outcome, changes: [] };
    const begun = await proofs.begun(task, now);
    const ended = before.proof && isClosed(task.status) ? await proofs.endCheck(before, now) : [];
    return { outcome: { ...outcome, task: begun.task }, changes: [...begun.changes, ...ended] };
  }

  /**
   * Decides on a task and commits the decision. If this instance wrote the task last, no read is needed, because the
   * commit is refused if another instance has changed the task since. A decision that changes nothing has no such
   * check, so the task is read for it. Source: docs/decisions/0001-optimistic-commits.md
   */
  private change<Outcome extends { readonly task: Task }>(
    taskId: string,
    mayIn: (workspace: string) => boolean,
    decide: (task: Task, now: Date) => Outcome,
    commit: (found: Versioned<Task>, outcome: Outcome, now: Date) => Promise<Outcome>,
  ): Promise<Outcome> {
    const { tasks, clock, randomness, writtenTasks } = this.ports;
    let written = writtenTasks.get(taskId);
    writtenTasks.delete(taskId);
    return retryOnConflict(randomness, async () => {
      const now = clock.now();
      const changed = written && changedBy((task) => decide(task, now), written.value);
      const found = changed ? written : await readUnreadable(mayIn, tasks.find(taskId));
      written = undefined;
      if (found === undefined || !mayIn(found.value.workspace)) throw taskNotFound(taskId);
      return commit(found, decide(found.value, now), now);
    });
  }
}

/** Checks that a report fits the task. @throws MusterError REQUIRED_FIELD; VALIDATION_ERROR; FORBIDDEN for an author */
function requireReportable(task: Task, { claimant, outcome, registered_by }: Report, by: Principal): void {
  const { id, reviews, coding, acceptance } = task;
  const isReview = reviews !== undefined && coding === undefined;
  if (outcome.kind !== 'done') return;
  if (!isReview && outcome.verdict !== undefined)
    throw new MusterError('VALIDATION_ERROR', `Task "${id}" is not a review.`, {
      field: 'verdict',
      reason: 'NOT_A_REVIEW',
      suggestion: 'Omit verdict. Only reviews of the work of other agents have one.',
    });
  if (isReview && outcome.verdict === undefined)
    throw new MusterError('REQUIRED_FIELD', `Task "${id}" is a review, which needs a verdict.`, {
      field: 'verdict',
      reason: 'VERDICT_NEEDED',
      suggestion:
        'Set verdict to approve or request_changes, and output to the requested changes, or to the reasons for the approval.',
    });
  if (isReview && isAuthor(reviews, { id: claimant.agent_id, registered_by }, by)) throw ownWork(id);
  if (acceptance?.command !== undefined && coding === undefined && outcome.work?.branch === undefined)
    throw new MusterError('REQUIRED_FIELD', `Task "${id}" is done when ${acceptance.command} succeeds on its branch.`, {
      field: 'branch',
      reason: 'BRANCH_NEEDED',
      suggestion: 'Set branch to the branch that contains your work.',
    });
}

function ownWork(id: string): MusterError {
  return new MusterError('FORBIDDEN', `You cannot give the verdict of "${id}": you or your credential did the work.`, {
    field: 'task_id',
    reason: 'OWN_WORK',
    suggestion: 'Release the review with coordination.release_task. Another agent has to claim it.',
  });
}

function changedBy(decide: (task: Task) => { readonly task: Task }, task: Task): boolean {
  try {
    return decide(task).task !== task;
  } catch (error) {
    if (error instanceof MusterError) return false;
    throw error;
  }
}

/** Returns whether the caller has the role worker in a workspace. A task's workspace can differ from the call's. */
function workerIn(principal: Principal): (workspace: string) => boolean {
  return (workspace) => hasRoleIn(principal, workspace, 'worker');
}
