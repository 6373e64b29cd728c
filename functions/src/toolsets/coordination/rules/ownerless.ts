/** Ends tasks of somebody who may not have work done here, instead of giving them out. Source: docs/semantics.md#what-leaving-ends. */
import type { LeavingEnd, Left, OwnerRoles } from '../../../access/rules/leaving.ts';
import type { Agent } from '../../../agents/rules/agent.ts';
import type { Versioned } from '../../../kernel/commit.ts';
import { allOf } from '../../../kernel/paging.ts';
import { type PortOf, Service, unlessUnreadable } from '../../../kernel/ports.ts';
import { retryStale } from '../../../kernel/waiting.ts';
import { withFailure } from './codingTask.ts';
import type { CoordinationChange, CoordinationPorts } from './ports.ts';
import { cancelTask } from './stateMachine.ts';
import { isClosed, isOfRun, type Task } from './task.ts';
import { outcomeChanges } from './taskChanges.ts';

export interface OwnerPorts {
  readonly ownerRoles: Pick<PortOf<OwnerRoles>, 'standing'>;
}

/** The owner of a coding task or of a run. Any other task belongs to its workspace's plan, whoever created it. */
export function instructedBy(task: Task): string | undefined {
  if (task.coding !== undefined) return task.coding.owner_uid;
  return isOfRun(task) ? task.owner_uid : undefined;
}

/** Returns whether a task may be given to an agent now. */
export async function ownerStanding(
  { ownerRoles }: OwnerPorts,
  task: Task,
  agent: Pick<Agent, 'owner_uid'>,
): Promise<'works' | 'out' | 'unknown'> {
  const owner = instructedBy(task);
  // The gate has just checked the role of the agent's own owner.
  if (owner === undefined || owner === agent.owner_uid) return 'works';
  return ownerRoles.standing(owner, task.workspace);
}

/** What ends a task whose owner has left the workspace. */
export function leavingChanges(
  { value: before, version }: Versioned<Task>,
  now: Date,
): readonly CoordinationChange[] {
  const message = whyLeft(before.workspace);
  const task = withFailure(cancelTask(before, message, now), { class: 'cancelled', message });
  return outcomeChanges(before, { kind: 'accepted', task }, version, now);
}

/** The reason that is stored with what ends because its owner has left. */
export function whyLeft(workspace: string): string {
  return `Cancelled: its owner has no role as a worker in the workspace "${workspace}" any more. Create it again in the name of a member if it is still wanted.`;
}

// Ends the coding tasks of people who leave a workspace. Source: docs/semantics.md#what-leaving-ends.

/** How many tasks are read at once. */
const BATCH = 100;

export class CodingLeaving extends Service<CoordinationPorts> implements LeavingEnd {
  /** Cancels their open coding tasks, whoever holds them. Tasks of the workspace's plan stay, whoever created them. */
  async end(uid: string, { isOut }: Left): Promise<number> {
    const read = (after?: string) => this.ports.tasks.openCodingOf(uid, BATCH, after);
    const isTheirs = (task: { readonly workspace: string }) => isOut(task.workspace);
    return allOf(read, isTheirs, ({ id }) => this.cancel(id, isOut));
  }

  private cancel(taskId: string, isOut: Left['isOut']): Promise<boolean> {
    const { tasks, clock, randomness } = this.ports;
    return retryStale(randomness, async () => {
      const found = await unlessUnreadable(tasks.find(taskId));
      if (found === undefined || isClosed(found.value.status) || !isOut(found.value.workspace)) return false;
      await this.ports.store.commit(leavingChanges(found, clock.now()));
      return true;
    });
  }
}
