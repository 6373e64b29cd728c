/** Undoes changes of tasks and sessions. Source: docs/semantics.md#undo. */
import { hasRoleIn, type Principal } from '../../../identity/rules/principal.ts';
import type { AuditEffect } from '../../../kernel/auditLog.ts';
import type { Versioned } from '../../../kernel/commit.ts';
import type { FieldsCodec } from '../../../kernel/documentCodec.ts';
import {
  cannotUndoError,
  changedNames,
  changedSinceError,
  isUnchanged,
  restoredFields,
} from '../../../kernel/effects.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { readUnreadable, Service } from '../../../kernel/ports.ts';
import { requeuedCoding, withFailure } from './codingTask.ts';
import { heldAgain } from './files/reserving.ts';
import { queueGrowth } from './openSession.ts';
import type { CoordinationChange, CoordinationPorts } from './ports.ts';
import { freeAgent, Proofs } from './proof/proofs.ts';
import { isVerifying } from './proof/proving.ts';
import { type UndoneEffect, undoHandIn, undoVerdict } from './proof/undoProof.ts';
import type { Session } from './session.ts';
import { cancelTask, releaseClaim, undoStart } from './stateMachine.ts';
import { isClosed, isHeld, isOfRun, type Task, taskNotFound } from './task.ts';
import {
  actionText,
  dependencyChanges,
  requeuedChanges,
  requireTaskManager,
  restoreOutcome,
  runHasEnded,
  sessionArchived,
  undoRequeue,
} from './taskActions.ts';
import { outcomeChanges, reopenedDependents, taskChanges } from './taskChanges.ts';
import { TaskUpdates } from './taskUpdates.ts';

/** Fields that an undo never restores: claim epochs, previous outcomes, and fields derived from other tasks. */
const PROGRESS_FIELDS = [
  'claim_epoch',
  'lapsed_claims',
  'released_epoch',
  'former_ends',
  'spent',
  'late_result',
  'dependents',
  'blockers',
  'failed_dependencies',
  ...['ancestors', 'rounds', 'sent_back', 'authors', 'files_held', 'files_wait', 'files_since'],
];

const UPDATED_FIELDS = [
  ...['description', 'priority', 'dependencies', 'context', 'deadline'],
  ...['required_capabilities', 'capability_key', 'acceptance'],
];

interface UndoPorts extends CoordinationPorts {
  readonly taskFields: FieldsCodec<Task>;
  readonly sessionFields: FieldsCodec<Session>;
}

export class TaskUndo extends Service<UndoPorts> {
  private readonly proofs = new Proofs(this.ports);
  private readonly updates = new TaskUpdates(this.ports);

  /** MusterError NOT_FOUND; FORBIDDEN; CONFLICT with a reason such as CHANGED_SINCE */
  readonly task = async (effect: AuditEffect, by: Principal): Promise<readonly CoordinationChange[]> => {
    const { tasks, taskFields, clock } = this.ports;
    const works = (workspace: string) => hasRoleIn(by, workspace, 'worker');
    const found = await readUnreadable(works, tasks.find(effect.id));
    if (found === undefined || !works(found.value.workspace)) throw taskNotFound(effect.id);
    const now = clock.now();
    const fields = restoredFields(withoutProgressFields(effect), taskFields.of(found.value));
    if (fields === undefined) return this.undoCreate(effect, found, by, now);
    // A task without a holder lacks the end of the lease. Any time can replace the missing end, because it is not used.
    const lease = fields['lease_expires_at'] ?? fields['completed_at'] ?? fields['claimed_at'];
    const former = taskFields.from({ ...fields, lease_expires_at: lease });
    return this.restored({ effect, found, former, by, now });
  };

  private async restored(taken: UndoneEffect): Promise<readonly CoordinationChange[]> {
    const { effect, found, former, by, now } = taken;
    const { value: before, version } = found;
    // Only an undo of a task manager's action requires a task manager. An undo of a claim or a start does not.
    const isDecision = former.status === before.status || before.status === 'cancelled' || isClosed(former.status);
    if (isDecision) requireTaskManager(by, before, 'task_id');
    const ofProof = await this.undoProof(taken);
    if (ofProof !== undefined) return ofProof;
    if (former.status === before.status) return this.undoUpdate(taken);
    if (before.status === 'done') return this.undoReopen(taken);
    if (isClosed(before.status) && !isClosed(former.status)) return this.undoRetry(taken);
    if (isHeld(before.status) && former.status === 'available') return this.undoClaim(taken);
    if (before.status === 'in_progress' && former.status === 'claimed')
      return taskChanges(before, undoStart(before), version, now);
    if (before.status === 'available' && (former.status === 'failed' || former.status === 'cancelled')) {
      const failed = { kind: 'dependencyFailed', dependencyId: before.id } as const;
      const failures = before.dependents.map((taskId) => ({ ...failed, taskId }));
      return [...taskChanges(before, restoreOutcome(before, former), version, now), ...failures];
    }
    throw cannotUndoError(effect, 'The task is in the queue again. Agents can claim it with coordination.claim_task.');
  }

  /** Undoes the creation of a task by cancelling it. Tasks are not deleted, because other tasks may refer to them. */
  private async undoCreate(
    effect: AuditEffect,
    { value: before, version }: Versioned<Task>,
    by: Principal,
    now: Date,
  ): Promise<readonly CoordinationChange[]> {
    requireTaskManager(by, before, 'task_id');
    if (before.status === 'cancelled') return [];
    if (before.status !== 'available') throw changedSinceError(effect, [`it is ${before.status}`]);
    const known = effect.after?.['dependents'];
    // If the dependents at the time of creation are unknown, all of them count as added later.
    const isSame = isUnchanged(effect, 'dependents', before.dependents) === true;
    const since = Array.isArray(known) ? before.dependents.filter((id) => !known.includes(id)) : before.dependents;
    const waiting = (await this.tasksOf(isSame ? [] : since)).find(({ value }) => !isClosed(value.status));
    if (waiting !== undefined) throw changedSinceError(effect, [`task "${waiting.value.id}" depends on it`]);
    const message = await actionText(this.ports, 'Undone', by, undefined);
    const task = withFailure(cancelTask(before, message, now), { class: 'cancelled', message });
    return outcomeChanges(before, { kind: 'accepted', task }, version, now);
  }

  private async undoUpdate({ effect, found, former, now }: UndoneEffect): Promise<readonly CoordinationChange[]> {
    const { before = {}, after = {} } = withoutProgressFields(effect);
    const names = changedNames(before, after);
    if (names.length === 0 || names.some((name) => !UPDATED_FIELDS.includes(name)))
      throw cannotUndoError(effect, 'Reports and questions about a task cannot be undone.');
    const { priority, required_capabilities, dependencies } = former;
    const wishes = { priority, required_capabilities, ...(names.includes('dependencies') && { dependencies }) };
    const described = { ...former, dependencies: found.value.dependencies };
    return (await this.updates.changesTo(found, described, wishes, now)).changes;
  }

  private async undoClaim({ found, by, now }: UndoneEffect): Promise<readonly CoordinationChange[]> {
    const { value: before, version } = found;
    const message = await actionText(this.ports, 'Undone', by, undefined);
    const task = requeuedCoding(before, releaseClaim(before, message), { class: 'cancelled', message }, now);
    const changes = outcomeChanges(before, { kind: 'accepted', task }, version, now);
    return [...changes, ...(await queueGrowth(this.ports.sessions, task))];
  }

  private async undoRetry({ found, former, now }: UndoneEffect): Promise<readonly CoordinationChange[]> {
    const { value: before, version } = found;
    if (isOfRun(before)) throw runHasEnded(before.id);
    const grown = await queueGrowth(this.ports.sessions, before);
    if (grown.length === 0) throw sessionArchived(before.id);
    const { error: _ended, ...rest } = requeuedChanges(before, now);
    const task = { ...rest, ...(former.error !== undefined && { error: former.error }) };
    return [...taskChanges(before, task, version, now), ...dependencyChanges(before), ...grown];
  }

  /** Undoes a task's completion. If possible, the last holder holds the task again. Dependents are blocked again. */
  private async undoReopen({ effect, found, former, now }: UndoneEffect): Promise<readonly CoordinationChange[]> {
    const { value: before, version } = found;
    if (before.coding !== undefined || isOfRun(before) || former.status === 'waiting')
      throw cannotUndoError(effect, 'Its result may already have been used by a run or in a repository.');
    const dependents = await this.waitingDependents(effect, before);
    const grown = await queueGrowth(this.ports.sessions, before);
    if (grown.length === 0) throw sessionArchived(before.id, 'be reopened');
    const { claim } = former;
    const holder = claim && isHeld(former.status) ? await freeAgent(this.ports, claim.claimed_by) : undefined;
    const reopened = undoRequeue(before, former, holder !== undefined, now);
    const { task, changes } = holder ? await heldAgain(this.ports, holder, reopened) : { task: reopened, changes: [] };
    return [...taskChanges(before, task, version, now), ...changes, ...reopenedDependents(dependents), ...grown];
  }

  /** Undoes a hand-in or a verdict; undefined for any other change. */
  private async undoProof(taken: UndoneEffect): Promise<readonly CoordinationChange[] | undefined> {
    const { effect, found, former } = taken;
    const { value: before } = found;
    if (before.reviews?.verdict !== undefined && former.status !== before.status)
      throw cannotUndoError(effect, 'A verdict goes with the task on which it was given.');
    if (isVerifying(before) && former.claim !== undefined) return undoHandIn(this.ports, taken);
    if (!isVerifying(former) || (isVerifying(before) && before.proof.check === former.proof.check)) return undefined;
    if (isOfRun(found.value)) throw cannotUndoError(effect, 'Its result may already have been used by a run.');
    const dependents = found.value.status === 'done' ? await this.waitingDependents(effect, found.value) : [];
    return undoVerdict(this.ports, this.proofs, taken, dependents);
  }

  /** Returns the dependents of a task. @throws MusterError CONFLICT if one of them has started */
  private async waitingDependents(effect: AuditEffect, task: Task): Promise<readonly Versioned<Task>[]> {
    const dependents = await this.tasksOf(task.dependents);
    const started = dependents.find(({ value: { status } }) => status !== 'available' && status !== 'cancelled');
    if (started !== undefined) throw dependentStartedError(effect, started.value);
    return dependents;
  }

  private async tasksOf(ids: readonly string[]): Promise<readonly Versioned<Task>[]> {
    return ids.length === 0 ? [] : (await this.ports.tasks.findAll(ids)).flatMap((one) => one ?? []);
  }
}

function withoutProgressFields(effect: AuditEffect): AuditEffect {
  const { before, after, digests } = effect;
  return {
    ...effect,
    ...(before && { before: decidedFields(before) }),
    ...(after && { after: decidedFields(after) }),
    ...(digests && { digests: decidedFields(digests) }),
  };
}

function decidedFields<Value>(fields: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !PROGRESS_FIELDS.includes(name)));
}

function dependentStartedError({ id }: AuditEffect, { id: dependentId, status, claim }: Task): MusterError {
  const by = claim === undefined ? '' : `, held by "${claim.claimed_by}"`;
  const what = `The change of the task "${id}" cannot be undone, because its dependent "${dependentId}" is ${status}${by}.`;
  return new MusterError('CONFLICT', what, {
    reason: 'CHANGED_SINCE',
    suggestion: 'Undo the changes of that task first.',
  });
}

export class SessionUndo extends Service<UndoPorts> {
  /** Restores goal and plan. @throws MusterError FORBIDDEN; CONFLICT with CHANGED_SINCE or CANNOT_BE_UNDONE */
  readonly session = async (effect: AuditEffect, by: Principal): Promise<readonly CoordinationChange[]> => {
    const { sessions, sessionFields } = this.ports;
    const { workspace = '' } = effect;
    if (!hasRoleIn(by, workspace, 'leader'))
      throw new MusterError('FORBIDDEN', `Only leaders can change the goal of the session "${effect.id}".`, {
        reason: 'ROLE_TOO_WEAK',
        suggestion: `Ask a leader of the workspace "${effect.workspace}" to undo the change.`,
      });
    if (effect.before === undefined || effect.after === undefined) throw cannotUndoError(effect, REOPEN);
    const open = await sessions.current(workspace);
    if (open?.session.id !== effect.id) throw changedSinceError(effect, ['it was archived']);
    const { session: before, sessionVersion: version } = open;
    const fields = restoredFields(effect, sessionFields.of(before));
    if (fields === undefined) return [];
    return [{ kind: 'describeSession', session: sessionFields.from(fields), before, version }];
  };
}

const REOPEN =
  'coordination.reopen restores an archived session, and coordination.init_coordination starts another one.';
