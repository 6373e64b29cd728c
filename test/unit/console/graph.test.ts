import assert from 'node:assert/strict';
import { edgesOf, shownTasks, step } from '../../../console/src/screens/tasks/graph.ts';
import { task as sample } from './samples.ts';

function task(id: string, dependencies: readonly string[] = []) {
  return sample({ id, description: id, dependencies });
}

describe('task graph of the console', () => {
  const tasks = [task('a'), task('b', ['a']), task('c', ['a', 'elsewhere']), task('d', ['b']), task('e')];

  it('has edges only between tasks that are shown', () =>
    assert.deepEqual(edgesOf(tasks), [
      { from: 'a', to: 'b' },
      { from: 'a', to: 'c' },
      { from: 'b', to: 'd' },
    ]));

  it('moves the selection by arrow keys along edges, and between tasks with a common dependency', () => {
    assert.equal(step(tasks, 'a', 'ArrowRight'), 'b');
    assert.equal(step(tasks, 'b', 'ArrowDown'), 'c');
    assert.equal(step(tasks, 'c', 'ArrowUp'), 'b');
    assert.equal(step(tasks, 'd', 'ArrowLeft'), 'b');
    assert.equal(step(tasks, 'a', 'ArrowDown'), 'e');
    assert.equal(step(tasks, 'e', 'ArrowRight'), undefined);
    assert.equal(step(tasks, 'a', 'x'), undefined);
  });

  it('hides closed tasks without open dependents if there are too many tasks to show', () => {
    const closed = Array.from({ length: 300 }, (_, index) => task(`closed-${index}`));
    const open = [task('open', ['closed-7'])];
    assert.deepEqual(
      shownTasks(open, closed, false).map(({ id }) => id),
      ['closed-7', 'open'],
    );
    assert.equal(shownTasks(open, closed, true).length, 301, 'on request, all are shown');
  });
});
