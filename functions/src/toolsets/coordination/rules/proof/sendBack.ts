/** Sends back results by the decision of a caller. Source: docs/guides/proof.md. */
import type { Principal } from '../../../../identity/rules/principal.ts';
import type { Versioned } from '../../../../kernel/commit.ts';
import { MusterError } from '../../../../kernel/errors.ts';
import { queueGrowth } from '../openSession.ts';
import type { CoordinationPorts, TaskWithChanges } from '../ports.ts';
import { invalidTransition } from '../stateMachine.ts';
import type { Task } from '../task.ts';
import { reopenedDependents, taskChanges } from '../taskChanges.ts';
import type { Proofs } from './proofs.ts';
import { correctionDigest, isVerifying, type Proof, withCorrection } from './proving.ts';

/** Sends a verifying or done task back with comments. @throws MusterError CONFLICT if a dependent has begun */
export async function sentBack(
  ports: CoordinationPorts,
  proofs: Proofs,
  { value: before, version }: Versioned<Task>,
  { by, comments, now }: { readonly by: Principal; readonly comments: string; readonly now: Date },
): Promise<TaskWithChanges> {
  const who = by.agent_id ?? by.uid;
  if (isVerifying(before)) {
    const ruling = { says: 'request_changes', by: who, comments, step: before.proof.step, isPersons: true } as const;
    const { task, changes } = await proofs.ruled(before, ruling, now);
    const own = await proofs.changesOf({ value: before, version }, task, now);
    return { task, changes: [...own, ...changes, ...(await proofs.endCheck(before, now))] };
  }
  if (before.status !== 'done') throw invalidTransition(before, 'be sent back', undefined, NOT_DONE);
  const dependents = (await ports.tasks.findAll(before.dependents)).flatMap((found) => found ?? []);
  const begun = dependents.find(({ value: { status } }) => status !== 'available' && status !== 'cancelled');
  if (begun !== undefined) throw dependentBegun(before, begun.value);
  const proof = handedIn(before);
  const correction = { by: who, comments, step: 'done', digest: correctionDigest(ports.hashing, comments) };
  const { task: corrected } = withCorrection(before, proof, correction, now);
  const { task, changes } = await proofs.back(corrected, { proof }, now);
  const grown = task.status === 'available' ? await queueGrowth(ports.sessions, task) : [];
  const own = [...taskChanges(before, task, version, now), ...changes];
  return { task, changes: [...own, ...reopenedDependents(dependents), ...grown] };
}

const NOT_DONE = 'Only a result can be sent back. To retry a failed or cancelled task, omit comments.';

/** Returns the hand-in of a done task, as far as its last claim shows it. */
function handedIn({ claim, rounds, completed_at, created_at, claim_epoch }: Task): Proof {
  const since = completed_at ?? created_at;
  return {
    step: '',
    round: rounds + 1,
    agent_id: claim?.claimed_by ?? 'muster',
    claim_epoch,
    claimed_at: claim?.claimed_at ?? since,
    lease_seconds: claim?.lease_seconds ?? 0,
    since,
    passed: [],
  };
}

function dependentBegun({ id }: Task, { id: dependent, status, claim }: Task): MusterError {
  const by = claim === undefined ? '' : `, held by "${claim.claimed_by}"`;
  const what = `Task "${id}" cannot be sent back, because its dependent "${dependent}" is ${status}${by}.`;
  return new MusterError('CONFLICT', what, {
    field: 'task_id',
    reason: 'DEPENDENT_BEGUN',
    suggestion: 'Create another task with the correction, and let later tasks depend on it.',
  });
}
