/** Cancels tasks whose owner lost access to the workspace. Source: docs/semantics.md#leaving-a-workspace. */
import type { LostAccess, LostAccessHandler, OwnerRoles } from '../../../access/rules/leaving.ts';
import type { Agent } from '../../../agents/rules/agent.ts';
import type { Versioned } from '../../../kernel/commit.ts';
import { retryOnConflict } from '../../../kernel/concurrency.ts';
import { type PortOf, Service, skipUnreadable } from '../../../kernel/ports.ts';
import { processAll } from '../../../kernel/sweep.ts';
import { withFailure } from './codingTask.ts';
import type { CoordinationChange, CoordinationPorts } from './ports.ts';
import { Proofs } from './proof/proofs.ts';
import { cancelTask } from './stateMachine.ts';
import { isClosed, isOfRun, type Task } from './task.ts';
import { outcomeChanges } from './taskChanges.ts';

export interface OwnerPorts {
  readonly ownerRoles: Pick<PortOf<OwnerRoles>, 'stateOf'>;
}

/** Returns the owner of a coding task or of a run's task; undefined for tasks of the workspace's plan. */
export function instructedBy(task: Task): string | undefined {
  // A command run on the branch of another owner's agent has no owner.
  if (task.coding !== undefined) return task.coding.owner_uid || undefined;
  return isOfRun(task) ? task.owner_uid : undefined;
}

/** Returns whether the task's owner still has the role worker, which is required for agents to do the task. */
export async function ownerState(
  { ownerRoles }: OwnerPorts,
  task: Task,
  agent: Pick<Agent, 'owner_uid'>,
): Promise<'works' | 'out' | 'unknown'> {
  const owner = instructedBy(task);
  // The permission check of the call has already verified the role of the agent's owner.
  if (owner === undefined || owner === agent.owner_uid) return 'works';
  return ownerRoles.stateOf(owner, task.workspace);
}

/** Returns the changes that cancel a task whose owner has left the workspace. */
export function lostAccessChanges(
  { value: before, version }: Versioned<Task>,
  now: Date,
): readonly CoordinationChange[] {
  const message = lostAccessReason(before.workspace);
  const task = withFailure(cancelTask(before, message, now), { class: 'cancelled', message });
  return outcomeChanges(before, { kind: 'accepted', task }, version, now);
}

/** Returns the error stored in a task that was cancelled because its owner left. */
export function lostAccessReason(workspace: string): string {
  return `Cancelled: the owner no longer has the role worker in the workspace "${workspace}". If the task is still needed, a member can create it again.`;
}

const BATCH = 100;

export class CodingLostAccess extends Service<CoordinationPorts> implements LostAccessHandler {
  /** Cancels a person's open coding tasks, even if held. Tasks of the workspace's plan are not cancelled. */
  async end(uid: string, { isOut }: LostAccess): Promise<number> {
    const read = (after?: string) => this.ports.tasks.openCodingOf(uid, BATCH, after);
    const isTheirs = (task: { readonly workspace: string }) => isOut(task.workspace);
    return processAll(read, isTheirs, ({ id }) => this.cancel(id, isOut));
  }

  private cancel(taskId: string, isOut: LostAccess['isOut']): Promise<boolean> {
    const { tasks, clock, randomness } = this.ports;
    return retryOnConflict(randomness, async () => {
      const found = await skipUnreadable(tasks.find(taskId));
      if (found === undefined || isClosed(found.value.status) || !isOut(found.value.workspace)) return false;
      const now = clock.now();
      const ended = await new Proofs(this.ports).endCheck(found.value, now);
      await this.ports.store.commit([...lostAccessChanges(found, now), ...ended]);
      return true;
    });
  }
}
