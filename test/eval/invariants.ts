/** Invariants of proofs, which hold after every commit. Source: docs/decisions/0061-done-means-proven.md. */
import assert from 'node:assert/strict';
import type { Agent } from '../../functions/src/agents/rules/agent.ts';
import { isVerifying } from '../../functions/src/toolsets/coordination/rules/proof/proving.ts';
import { isClosed, isHeld, type Task } from '../../functions/src/toolsets/coordination/rules/task.ts';
import type { Request } from '../../functions/src/toolsets/inbox/rules/request.ts';

/** Everything that is stored about the tasks of a session. */
export interface Stored {
  readonly tasks: readonly Task[];
  readonly questions: readonly Request[];
  readonly agents: readonly Agent[];
}

export function requireProofInvariants({ tasks, questions, agents }: Stored): void {
  const checks = openChecks({ tasks, questions });
  for (const task of tasks) {
    const open = checks.filter((id) => id === task.id).length;
    assert.ok(open <= Number(isVerifying(task)), `${task.id} is ${task.status} with ${open} open checks`);
    if (isVerifying(task)) requireChecked(task, questions);
    else requireUnchecked(task);
  }
  for (const agent of agents) requireHeld(agent, tasks);
}

/** A verifying task has a result and no holder, and cannot wait forever. */
function requireChecked(task: Task, questions: readonly Request[]): void {
  const { id, claim, proof, proof_until: until, result } = task;
  assert.deepEqual([claim, result === undefined], [undefined, false], `${id} is being verified`);
  assert.ok(proof?.check !== undefined, `${id} has no check`);
  const isAsked = questions.some((question) => question.id === proof.check && question.state === 'open');
  assert.ok(until !== undefined || isAsked, `${id} would be verified forever`);
}

function requireUnchecked({ id, status, proof, proven, acceptance, parts_awaited }: Task): void {
  assert.ok(status !== 'waiting' || parts_awaited !== undefined, `${id} waits for nothing`);
  assert.equal(proof, undefined, `${id} is ${status} and keeps a proof`);
  if (status !== 'done') assert.deepEqual(proven, [], `${id} is proven but ${status}`);
  else if (acceptance !== undefined) requireProven(id, acceptance, proven);
}

/** Every step of the acceptance has passed, or the word of a person or a merge replaces the steps. */
function requireProven(id: string, wanted: NonNullable<Task['acceptance']>, proven: Task['proven']): void {
  const passed = new Set(proven.map(({ step }) => step));
  if (passed.has('waived') || passed.has('merged') || passed.has('person')) return;
  for (const [field, step] of [
    ['command', 'command'],
    ['review', 'review'],
    ['confirm', 'person'],
  ] as const)
    assert.ok(wanted[field] === undefined || passed.has(step), `${id} is done without its ${step}`);
}

/** Returns the id of the checked task for each open check. */
function openChecks({ tasks, questions }: Pick<Stored, 'tasks' | 'questions'>): readonly string[] {
  const reviews = tasks.flatMap(({ reviews, status }) => (reviews && !isClosed(status) ? [reviews.task_id] : []));
  const asked = questions.flatMap(({ proves, state }) => (proves && state === 'open' ? [proves.task_id] : []));
  return [...reviews, ...asked];
}

function requireHeld({ id, held }: Agent, tasks: readonly Task[]): void {
  const own = tasks.filter(({ status, claim }) => isHeld(status) && claim?.claimed_by === id);
  assert.deepEqual(Object.keys(held).sort(), own.map((task) => task.id).sort(), `held by ${id}`);
}
