/** Attempts of a task, from the fields of its document. */
import type { Task } from '../../live/documents.ts';
import { isVerifying, stateOf, workerOf } from '../../parts/taskState.ts';

export interface Attempt {
  readonly key: string;
  /** From 1. */
  readonly number: number;
  readonly agentId: string | null;
  readonly from: Date | undefined;
  readonly to: Date | undefined;
  /** State of the task at its end; for the present attempt, the task's state. */
  readonly end: string;
  /** Class of the failure, `lapsed` or `released`. */
  readonly reason: string | undefined;
  readonly message: string | undefined;
  readonly commits: readonly { readonly sha: string; readonly subject: string }[];
}

/** @returns newest first */
export function attemptsOf(task: Task): readonly Attempt[] {
  const before = new Map<number, Omit<Attempt, 'number' | 'key'>>();
  for (const { claim_epoch: epoch, agent_id: agentId, released, reason: why } of task.lapsed_claims) {
    const reason = released ? 'released' : 'lapsed';
    before.set(epoch, { agentId, from: undefined, to: undefined, end: 'lapsed', reason, message: why, commits: [] });
  }
  for (const { claim_epoch: epoch, agent_id: agentId, ended_at: to, status, error } of task.former_ends) {
    before.set(epoch, {
      agentId,
      from: undefined,
      to,
      end: status,
      reason: undefined,
      message: error ?? undefined,
      commits: [],
    });
  }
  for (const { claim_epoch: epoch, agent_id: agentId, ended_at: to, failure, commits } of task.coding?.attempts ?? []) {
    before.set(epoch, {
      agentId,
      from: undefined,
      to,
      end: 'failed',
      reason: failure.class,
      message: failure.message,
      commits,
    });
  }
  const agentId = workerOf(task);
  const isNow = agentId !== null && !before.has(task.claim_epoch);
  const present = {
    agentId,
    from: (isVerifying(task) ? task.proof.claimed_at : task.claimed_at) ?? undefined,
    to: task.completed_at ?? undefined,
    end: stateOf(task),
    reason: task.coding?.failure?.class,
    message: task.error ?? undefined,
    commits: [],
  };
  const all = [...before, ...(isNow ? [[task.claim_epoch, present] as const] : [])].sort(
    ([one], [other]) => one - other,
  );
  return all.map(([epoch, attempt], index) => ({ ...attempt, key: String(epoch), number: index + 1 })).reverse();
}
