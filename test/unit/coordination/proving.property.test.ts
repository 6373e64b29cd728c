/** Invariants of results that must be proven, after any actions of agents, people, runners and the sweep. */
import assert from 'node:assert/strict';
import { isClosed, type Task } from '../../../functions/src/toolsets/coordination/rules/task.ts';
import { type Board, PERSON } from '../../eval/board.ts';
import { type Action, actions, boardOf, countUnprovenStarts, perform, plans, storedOn } from '../../eval/histories.ts';
import { requireProofInvariants } from '../../eval/invariants.ts';
import { defaultOrNightly } from '../../support/nightly.ts';
import { inRuns } from '../../support/properties.ts';

describe('results that must be proven', () => {
  it('keep their invariants, their epochs and their outcomes after any actions', () =>
    inRuns(defaultOrNightly(400, { night: 5000 })).forAllAsync(plans, actions, async (plan, history) => {
      const board = boardOf(plan);
      const byPeople = new Map<string, number>();
      for (const action of history) {
        const before = board.allTasks();
        const isDone = await perform(board, action);
        requireProofInvariants(storedOn(board));
        if (!isDone) assert.deepEqual(board.allTasks(), before, `${action.kind} was refused, and changes nothing`);
        for (const former of before) {
          const task = board.task(former.id);
          requireContinuity(board, former, task, action);
          requireRounds(former, task, action, byPeople);
        }
      }
    }));

  it('never let a dependent begin before they are proven', async () => {
    const { histories, starts, unproven } = await countUnprovenStarts(defaultOrNightly(1000, { night: 10_000 }));
    assert.equal(unproven, 0);
    assert.ok(starts > histories / 10, `${starts} dependents began in ${histories} histories`);
  });
});

function requireContinuity(board: Board, before: Task, after: Task, { kind }: Action): void {
  const { id } = after;
  assert.ok(after.claim_epoch >= before.claim_epoch, `the epoch of ${id} decreases`);
  if (before.status === 'done' && after.status !== 'done') {
    assert.equal(kind, 'sendBack', `${id} was done`);
    const begun = board.allTasks().filter(({ dependencies, status }) => dependencies.includes(id) && isBegun(status));
    assert.deepEqual(begun, [], `dependents of ${id} have begun`);
  }
  const authors = new Set(after.authors.flatMap(({ agent_id, uid }) => [agent_id, uid]));
  for (const { step, by } of after.proven)
    assert.ok(step !== 'review' || !authors.has(by), `${by} reviews its own work`);
}

/**
 * The hub sends a result back at most as often as the acceptance says. Each correction by a person allows one more, and
 * one more rejection about which the person is asked again.
 */
function requireRounds(before: Task, after: Task, { kind }: Action, byPeople: Map<string, number>): void {
  const { id, rounds, acceptance } = after;
  const isRetried = isClosed(before.status) && after.status === 'available' && kind === 'retry';
  assert.ok(rounds >= before.rounds || isRetried, `${id} loses rounds`);
  if (isRetried) byPeople.delete(id);
  if (rounds > before.rounds && after.sent_back.at(-1)?.by === PERSON) byPeople.set(id, (byPeople.get(id) ?? 0) + 1);
  if (acceptance === undefined) return;
  const bound = acceptance.rounds + 2 * (byPeople.get(id) ?? 0);
  assert.ok(rounds <= bound, `${id} was sent back ${rounds} times, at most ${bound} expected`);
}

function isBegun(status: Task['status']): boolean {
  return status !== 'available' && status !== 'cancelled';
}
