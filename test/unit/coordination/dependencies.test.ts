import assert from 'node:assert/strict';
import fc from 'fast-check';
import { resolveBatch } from '../../../functions/src/toolsets/coordination/rules/dependencies.ts';
import { forAll, forAllAsync } from '../../support/properties.ts';
import { refusal } from '../../support/refusal.ts';

describe('dependencies in a batch of new tasks', () => {
  it('name tasks of the batch as task-N, and existing tasks by id', () =>
    assert.deepEqual(resolveBatch([['task-2', 'task-0abc-001'], [], ['task-1', 'task-2']]), [
      [{ sibling: 1 }, { existing: 'task-0abc-001' }],
      [],
      [{ sibling: 0 }, { sibling: 1 }],
    ]));

  it('are stored once if they are listed twice', () =>
    assert.deepEqual(resolveBatch([[], ['task-1', 'task-1', 'x', 'x']])[1], [{ sibling: 0 }, { existing: 'x' }]));

  for (const unknown of ['task-0', 'task-3', 'task-99999999999999999999'])
    it(`are rejected if the batch has no ${unknown}`, async () => {
      const error = await refusal(() => resolveBatch([[], [unknown]]));
      assert.equal(error.code, 'VALIDATION_ERROR');
      assert.match(error.message, new RegExp(`Unknown dependency "${unknown}" of task-2`));
      assert.deepEqual([error.details.field, error.details.reason], ['tasks.1.dependencies', 'UNKNOWN_DEPENDENCY']);
      assert.match(error.details.suggestion ?? '', /Number of tasks in this batch: 2\./);
    });

  for (const [name, batch, path] of [
    ['a task on itself', [[], ['task-2']], 'task-2 -> task-2'],
    ['two tasks on each other', [['task-2'], ['task-1']], 'task-1 -> task-2 -> task-1'],
    [
      'three tasks off the first path',
      [['task-2'], [], ['task-4'], ['task-5'], ['task-3']],
      'task-3 -> task-4 -> task-5 -> task-3',
    ],
  ] as const)
    it(`are rejected with the path of the cycle if they form a cycle: ${name}`, async () => {
      const error = await refusal(() => resolveBatch(batch));
      assert.equal(error.message, `The dependencies form a cycle: ${path}.`);
      assert.equal(error.details.reason, 'DEPENDENCY_CYCLE');
    });

  it('may form a chain of 500 tasks', () => {
    const chain = Array.from({ length: 500 }, (_, index) => (index === 499 ? [] : [`task-${index + 2}`]));
    assert.equal(resolveBatch(chain).length, 500);
  });

  it('are accepted if they form no cycle, for any order of the tasks in the batch', () =>
    forAll(shuffledGraph(false), (edges) => {
      const written = edges.map((targets) => targets.map((target) => `task-${target + 1}`));
      const resolved = resolveBatch(written);
      const found = resolved.map((task) => task.map((one) => ('sibling' in one ? one.sibling : -1)));
      const expected = edges.map((targets) => [...new Set(targets)]);
      assert.deepEqual(found, expected);
    }));

  it('are rejected if they form a cycle, and the error names a cycle that exists', () =>
    forAllAsync(shuffledGraph(true), async (edges) => {
      const written = edges.map((targets) => targets.map((target) => `task-${target + 1}`));
      const error = await refusal(() => resolveBatch(written));
      const [, text = ''] = /cycle: (.*)\.$/.exec(error.message) ?? [];
      const path = text.split(' -> ').map((name) => Number(name.slice('task-'.length)) - 1);
      assert.ok(path.length >= 2 && path[0] === path.at(-1), `not closed: ${text}`);
      assert.equal(new Set(path).size, path.length - 1, `repeats a task: ${text}`);
      for (const [place, from] of path.slice(0, -1).entries())
        assert.ok(edges[from]?.includes(path[place + 1] ?? -1), `no such dependency in ${text}`);
    }));
});

/** Returns the dependencies of each task, by index. The order of the tasks is random. `withCycle` adds a cycle. */
function shuffledGraph(withCycle: boolean): fc.Arbitrary<number[][]> {
  return fc.integer({ min: 1, max: 30 }).chain((size) => {
    const order = fc.shuffledSubarray([...Array(size).keys()], { minLength: size, maxLength: size });
    const pairs = fc.array(fc.tuple(fc.nat(size - 1), fc.nat(size - 1)), { maxLength: 60 });
    const loop = fc.shuffledSubarray([...Array(size).keys()], { minLength: 1 });
    return fc.tuple(order, pairs, loop).map(([places, forward, around]) => {
      const edges: number[][] = places.map(() => []);
      const add = (from: number, to: number): void => void edges[places[from] ?? 0]?.push(places[to] ?? 0);
      for (const [one, other] of forward) if (one !== other) add(Math.min(one, other), Math.max(one, other));
      if (withCycle) for (const [at, from] of around.entries()) add(from, around[(at + 1) % around.length] ?? from);
      return edges;
    });
  });
}
