/** The window of the queue, over a reader that answers when the test says so. */
import assert from 'node:assert/strict';
import type { Versioned } from '../../../functions/src/kernel/commit.ts';
import { ClaimWindow } from '../../../functions/src/toolsets/coordination/rules/claimWindow.ts';
import type { Task } from '../../../functions/src/toolsets/coordination/rules/task.ts';
import { sampleTask, versionOf } from '../samples.ts';

interface Query {
  readonly limit: number;
  answer(ids: readonly string[]): Promise<void>;
  fail(error: Error): Promise<void>;
}

/** A reader whose queries wait to be answered. */
class ScriptedReader {
  readonly queries: Query[] = [];

  claimable(limit: number): Promise<readonly Versioned<Task>[]> {
    return new Promise((resolve, reject) => {
      this.queries.push({
        limit,
        answer: (ids) =>
          settled(() => resolve(ids.slice(0, limit).map((id) => versionOf(sampleTask({ id }))))),
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

/** Acts, then lets everything that follows from it happen. */
async function settled(act: () => void): Promise<void> {
  act();
  await new Promise((resolve) => setImmediate(resolve));
}

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `task-${index + 1}`);

describe('the window of the queue', () => {
  let reader: ScriptedReader;
  let window: ClaimWindow;

  const next = async (version: number): Promise<string | undefined> => (await window.next(version))?.value.id;

  beforeEach(() => {
    reader = new ScriptedReader();
    window = new ClaimWindow((limit) => reader.claimable(limit));
  });

  it('reads the queue in order', async () => {
    const first = next(1);
    await reader.query(0).answer(names(3));
    assert.equal(await first, 'task-1');
  });

  it('serves calls that come together by one more query, each with a task of its own', async () => {
    const first = next(1);
    const others = [next(1), next(1), next(1)];
    await reader.query(0).answer(names(50));
    await reader.query(1).answer(names(50));
    const dealt = await Promise.all([first, ...others]);
    assert.deepEqual(dealt, ['task-1', 'task-2', 'task-3', 'task-4']);
    assert.equal(reader.queries.length, 2);
  });

  it('asks for as many as wait, as are dealt, and some more', async () => {
    const first = next(1);
    const others = [next(2), next(2)];
    await reader.query(0).answer(names(50));
    assert.equal(reader.query(1).limit - reader.query(0).limit, 2);
    await reader.query(1).answer(names(50));
    assert.equal(new Set(await Promise.all([first, ...others])).size, 3);
  });

  it('deals what it has read for as long as the version stands', async () => {
    const first = next(4);
    await reader.query(0).answer(names(50));
    const second = next(4);
    await reader.query(1).answer(names(50));
    const dealt = [await first, await second, await next(4), await next(3)];
    assert.deepEqual(dealt, ['task-1', 'task-2', 'task-3', 'task-4']);
    assert.equal(reader.queries.length, 2);
  });

  it('reads ahead more and more while the version stands, and nothing where it has grown', async () => {
    const ahead: number[] = [];
    for (let number = 1, place = 0; ahead.length < 6; number++) {
      const dealt = next(1);
      if (reader.queries.length > place) {
        // Nothing is dealt out: what it reads beyond the one that is asked for it reads ahead.
        ahead.push(reader.query(place).limit - 1);
        await reader.query(place++).answer(names(number + 50).slice(number - 1));
      }
      window.finish(String(await dealt), 'claimed');
    }
    assert.deepEqual(ahead, [0, 2, 6, 10, 10, 10]);
    const { length } = reader.queries;
    const newer = next(2);
    assert.equal(reader.query(length).limit, 1);
    await reader.query(length).answer(['task-0']);
    assert.equal(await newer, 'task-0');
  });

  it('reads anew once something has become claimable', async () => {
    const first = next(1);
    await reader.query(0).answer(['task-2', 'task-3']);
    await first;
    const urgent = next(2);
    await reader.query(1).answer(['task-1', 'task-3']);
    assert.equal(await urgent, 'task-1');
  });

  it('knows that there is no more without asking again', async () => {
    const first = next(1);
    await reader.query(0).answer(['task-1']);
    const second = next(1);
    await reader.query(1).answer(['task-1']);
    assert.deepEqual([await first, await second, await next(1)], ['task-1', undefined, undefined]);
    assert.equal(reader.queries.length, 2);
  });

  it('reads on where it had read only the head', async () => {
    const first = next(1);
    await reader.query(0).answer(names(50));
    const read = reader.query(0).limit;
    await first;
    for (let count = 1; count < read; count++) await next(1);
    const beyond = next(1);
    await reader.query(1).answer(names(60));
    assert.equal(await beyond, `task-${read + 1}`, 'those dealt out are still listed and are skipped');
  });

  it('never deals a task twice while its commit is under way', async () => {
    const first = next(1);
    await reader.query(0).answer(['task-1']);
    await first;
    const second = next(2);
    await reader.query(1).answer(['task-1', 'task-2']);
    assert.equal(await second, 'task-2');
  });

  it('forgets what it read when a commit was refused', async () => {
    const first = next(1);
    await reader.query(0).answer(names(3));
    assert.equal(await first, 'task-1');
    window.finish('task-1', 'refused');
    const again = next(1);
    await reader.query(1).answer(['task-1']);
    assert.equal(await again, 'task-1', 'a task given back is dealt again');
  });

  it('does not deal a task that was claimed while the query was under way', async () => {
    const first = next(1);
    await reader.query(0).answer(['task-1']);
    await first;
    const second = next(2);
    window.finish('task-1', 'claimed');
    await reader.query(1).answer(['task-1']);
    assert.equal(await second, undefined);
  });

  it('is good only for the oldest version among those it answered', async () => {
    const first = next(1);
    const others = [next(3), next(2)];
    await reader.query(0).answer(names(50));
    await reader.query(1).answer(names(50));
    await Promise.all([first, ...others]);
    const newer = next(3);
    assert.equal(reader.queries.length, 3, 'version 2 does not vouch for version 3');
    await reader.query(2).answer(names(50));
    assert.equal(await newer, 'task-4');
  });

  it('tells everyone who waits that the query failed, and then works again', async () => {
    const first = next(1);
    const refused = assert.rejects(first, /no connection/);
    await reader.query(0).fail(new Error('no connection'));
    await refused;
    const second = next(1);
    await reader.query(1).answer(names(1));
    assert.equal(await second, 'task-1');
  });
});
