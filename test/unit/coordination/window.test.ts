/** A claim window with queries that return when the test decides. */
import assert from 'node:assert/strict';
import type { Versioned } from '../../../functions/src/kernel/commit.ts';
import { ClaimWindow } from '../../../functions/src/toolsets/coordination/rules/claimWindow.ts';
import type { Task } from '../../../functions/src/toolsets/coordination/rules/task.ts';
import { sampleTask, versionOf } from '../../support/builders.ts';

interface Query {
  readonly limit: number;
  answer(ids: readonly string[]): Promise<void>;
  fail(error: Error): Promise<void>;
}

/** Task reader whose queries stay pending until the test completes them. */
class ScriptedReader {
  readonly queries: Query[] = [];

  claimable(limit: number): Promise<readonly Versioned<Task>[]> {
    return new Promise((resolve, reject) => {
      this.queries.push({
        limit,
        answer: (ids) => settled(() => resolve(ids.slice(0, limit).map((id) => versionOf(sampleTask({ id }))))),
        fail: (error) => settled(() => reject(error)),
      });
    });
  }

  query(place: number): Query {
    const query = this.queries[place];
    assert.ok(query, `there are ${this.queries.length} queries`);
    return query;
  }
}

/** Runs the action, and then all pending microtasks. */
async function settled(act: () => void): Promise<void> {
  act();
  await new Promise((resolve) => setImmediate(resolve));
}

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `task-${index + 1}`);

describe('ClaimWindow', () => {
  let reader: ScriptedReader;
  let window: ClaimWindow;

  const next = async (growth?: string): Promise<string | undefined> => (await window.next(growth))?.value.id;

  beforeEach(() => {
    reader = new ScriptedReader();
    window = new ClaimWindow((limit) => reader.claimable(limit));
  });

  /** Claims tasks sequentially while the queue does not grow, and returns them. */
  async function claim(count: number, left: readonly string[], growth = '1'): Promise<(string | undefined)[]> {
    const queue = [...left];
    const claimed: (string | undefined)[] = [];
    for (let made = 0; made < count; made++) {
      const queries = reader.queries.length;
      const task = next(growth);
      if (reader.queries.length > queries) await reader.query(queries).answer(queue);
      claimed.push(await task);
      window.finish(String(claimed.at(-1)), 'claimed');
      queue.splice(queue.indexOf(String(claimed.at(-1))), 1);
    }
    return claimed;
  }

  it('proposes the tasks of one query in their order, with one query for each 20 claims or more', async () => {
    assert.deepEqual(await claim(100, names(120)), names(100));
    assert.deepEqual(
      reader.queries.map(({ limit }) => limit),
      [20, 33, 49, 49],
      'the number of proposed tasks, twice, and the tasks that were left and assigned',
    );
  });

  it('reads few tasks if the queue grows after each claim, and more tasks if it stops growing', async () => {
    for (const growth of ['1', '2', '3']) await claim(1, names(50), growth);
    assert.deepEqual(await claim(40, names(50), '4'), names(40));
    const limits = reader.queries.map(({ limit }) => limit);
    assert.deepEqual(limits, [20, 2, 2, 2, 4, 8, 17, 25, 41]);
  });

  it('reads ahead before it runs out of tasks, and hides an error from calls that do not wait', async () => {
    const first = next('1');
    await reader.query(0).answer(names(40));
    const claimed = [await first, ...(await Promise.all(Array.from({ length: 19 }, () => next('1'))))];
    assert.deepEqual(claimed, names(20), 'no claim waits for the second query');
    assert.equal(reader.queries.length, 2);
    await reader.query(1).fail(new Error('unavailable'));
    const last = next('1');
    await reader.query(2).answer(names(40));
    assert.equal(await last, 'task-21');
  });

  it('serves calls that waited for a query from its result, without another query', async () => {
    const first = next('1');
    const others = [next('1'), next('1')];
    await reader.query(0).answer(names(5));
    assert.deepEqual(await Promise.all([first, ...others]), names(3));
    assert.equal(reader.queries.length, 1);
  });

  it('reads only as many tasks as the calls need if the growth of the queue is unknown', async () => {
    const first = next();
    assert.equal(reader.query(0).limit, 1);
    await reader.query(0).answer(names(3));
    assert.equal(await first, 'task-1');
  });

  it('serves concurrent calls with one additional query, and gives each a different task', async () => {
    const first = next();
    const others = [next(), next(), next()];
    await reader.query(0).answer(names(50));
    assert.equal(reader.query(1).limit, 4, 'the number of waiting and assigned tasks');
    await reader.query(1).answer(names(50));
    assert.deepEqual(await Promise.all([first, ...others]), ['task-1', 'task-2', 'task-3', 'task-4']);
    assert.equal(reader.queries.length, 2);
  });

  it('queries again if the queue has grown, so that it never misses an urgent task', async () => {
    const first = next('1');
    await reader.query(0).answer(['task-2', 'task-3']);
    window.finish(String(await first), 'claimed');
    const urgent = next('2');
    assert.equal(reader.query(1).limit, 2, 'twice the number of tasks that the previous query was needed for');
    await reader.query(1).answer(['task-1', 'task-3']);
    assert.equal(await urgent, 'task-1');
    assert.equal(await next('2'), 'task-3');
  });

  it('queries again if a proposed task was no longer claimable, as others are probably not', async () => {
    const first = next('1');
    await reader.query(0).answer(names(9));
    window.finish(String(await first), 'refused');
    const second = next('1');
    await reader.query(1).answer(names(9).slice(6));
    assert.equal(await second, 'task-7');
  });

  it('returns undefined if no task is left for a call, and queries again for the next call', async () => {
    const first = next();
    await reader.query(0).answer(['task-1']);
    const others = [next(), next()];
    await reader.query(1).answer(['task-1']);
    await reader.query(2).answer(['task-1']);
    assert.deepEqual(await Promise.all([first, ...others]), ['task-1', undefined, undefined]);
    const later = next();
    await reader.query(3).answer(['task-1', 'task-2']);
    assert.equal(await later, 'task-2');
  });

  it('never returns a task to a second call while the first call commits its claim', async () => {
    const first = next();
    await reader.query(0).answer(['task-1']);
    await first;
    const second = next();
    await reader.query(1).answer(['task-1', 'task-2']);
    assert.equal(await second, 'task-2');
  });

  it('returns a task again after the claim of another call was refused', async () => {
    const first = next();
    await reader.query(0).answer(names(3));
    assert.equal(await first, 'task-1');
    window.finish('task-1', 'refused');
    const again = next();
    await reader.query(1).answer(['task-1']);
    assert.equal(await again, 'task-1');
  });

  it('does not return a task that another call claimed during the query', async () => {
    const first = next();
    await reader.query(0).answer(['task-1']);
    await first;
    const second = next();
    window.finish('task-1', 'claimed');
    await reader.query(1).answer(['task-1']);
    assert.equal(await second, undefined);
  });

  it('fails every waiting call if a query fails, and then works again', async () => {
    const first = next();
    const refused = assert.rejects(first, /no connection/);
    await reader.query(0).fail(new Error('no connection'));
    await refused;
    const second = next();
    await reader.query(1).answer(names(1));
    assert.equal(await second, 'task-1');
  });
});
