import assert from 'node:assert/strict';
import { z } from 'zod';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { answer, refusedWith } from './calls.ts';
import { Team } from './team.ts';

const page = z.looseObject({ truncated: z.boolean(), next_cursor: z.string().optional() });

describe('paged lists', () => {
  let team: Team;
  let ann: string;

  beforeEach(async () => {
    team = new Team();
    ann = await team.join('ann');
  });

  /** Returns all items of a list and its page count. Asserts that each page except the last is full. */
  async function pages<Item>(
    name: string,
    rawArguments: JsonObject & { limit: number },
    items: (answered: JsonObject) => Item[],
  ): Promise<{ all: Item[]; count: number }> {
    const all: Item[] = [];
    let cursor: string | undefined;
    for (let count = 1; count < 100; count++) {
      const answered = await answer(team, name, { ...rawArguments, ...(cursor !== undefined && { cursor }) });
      const { truncated, next_cursor } = page.parse(answered);
      const found = items(answered);
      all.push(...found);
      assert.equal(truncated, next_cursor !== undefined);
      if (!truncated) return { all, count };
      assert.equal(found.length, rawArguments.limit);
      cursor = next_cursor;
    }
    assert.fail('the list has more than 99 pages');
  }

  const taskIds = (answered: JsonObject): string[] =>
    z
      .looseObject({ tasks: z.array(z.looseObject({ id: z.string() })) })
      .parse(answered)
      .tasks.map(({ id }) => id);
  const resultIds = (answered: JsonObject): string[] =>
    z
      .looseObject({ results: z.array(z.looseObject({ task_id: z.string() })) })
      .parse(answered)
      .results.map(({ task_id }) => task_id);
  const contents = (answered: JsonObject): string[] =>
    z
      .looseObject({ discoveries: z.array(z.looseObject({ content: z.string() })) })
      .parse(answered)
      .discoveries.map(({ content }) => content);

  it('return all tasks, oldest first, with any page size', async () => {
    const old = await team.create({ priority: 9 }, {}, {});
    team.pass(1);
    const young = await team.create({ priority: 1 }, {}, {}, {});
    const expected = [...old, ...young].map((task) => task.id);
    for (const [limit, count] of [
      [1, 7],
      [3, 3],
      [7, 1],
      [8, 1],
    ] as const)
      assert.deepEqual(await pages('coordination_get_all_tasks', { limit }, taskIds), { all: expected, count });
  });

  it('return the tasks of one status', async () => {
    const [first, second, third, fourth] = await team.create({}, {}, {}, { dependencies: ['task-1'] });
    await team.claim(ann);
    await team.complete(ann, first?.id ?? '');
    await team.claim(ann);
    await team.fail(ann, second?.id ?? '');
    await team.claim(ann);
    const of = (status_filter: string) =>
      pages('coordination_get_all_tasks', { status_filter, limit: 1 }, taskIds).then(({ all }) => all);
    assert.deepEqual(await of('done'), [first?.id]);
    assert.deepEqual(await of('failed'), [second?.id]);
    assert.deepEqual(await of('claimed'), [third?.id]);
    assert.deepEqual(await of('in_progress'), []);
    assert.deepEqual(await of('available'), [fourth?.id]);
    await team.start(ann, third?.id ?? '');
    assert.deepEqual(await of('in_progress'), [third?.id]);
    assert.equal((await of('all')).length, 4);
  });

  it('continue after the last returned task, even if tasks change between pages', async () => {
    const tasks = await team.create({}, {}, {});
    const first = await answer(team, 'coordination_get_all_tasks', { limit: 2 });
    await team.claim(ann);
    team.pass(1);
    const later = await team.createOne();
    const { next_cursor } = page.parse(first);
    const rest = await answer(team, 'coordination_get_all_tasks', { limit: 2, cursor: next_cursor });
    assert.deepEqual(taskIds(rest), [tasks[2]?.id, later.id]);
  });

  it('return results in the order in which the tasks were completed', async () => {
    const tasks = await team.create({}, {}, {}, {}, {});
    await team.allow(ann, 5);
    for (const { id } of tasks) {
      assert.equal(await team.claim(ann), id);
      await team.start(ann, id);
    }
    const order = [3, 0, 4, 1].map((place) => tasks[place]?.id ?? '');
    for (const id of order) {
      await team.complete(ann, id, `of ${id}`);
      team.pass(1);
    }
    await team.fail(ann, tasks[2]?.id ?? '');
    const { all } = await pages('coordination_get_results', { limit: 3 }, resultIds);
    assert.deepEqual(all, order);
  });

  it('return the results of given tasks, or the status of a task if it has no result', async () => {
    const [done, failed, open] = await team.create({ description: 'A' }, {}, {});
    await team.claim(ann);
    await team.complete(ann, done?.id ?? '');
    await team.claim(ann);
    await team.fail(ann, failed?.id ?? '');
    const task_ids = [open, failed, done].map((task) => task?.id ?? '');
    assert.deepEqual(await answer(team, 'coordination_get_results', { task_ids }), {
      results: [
        { task_id: done?.id, description: 'A', result: { output: 'Made it' }, completed_at: team.now.toISOString() },
      ],
      without_result: [
        { task_id: open?.id, status: 'available' },
        { task_id: failed?.id, status: 'failed', error: 'It broke' },
      ],
      truncated: false,
    });
    const all = await answer(team, 'coordination_get_results', { task_ids: [] });
    assert.deepEqual(resultIds(all), [done?.id], 'an empty list of ids selects all results');
  });

  it('refuse a task of another workspace as unknown', async () => {
    const { id } = await new Team().createOne();
    for (const unknown of [id, 'task-xxx-404']) {
      const error = await refusedWith(team, 'coordination_get_results', { task_ids: [unknown] });
      assert.match(error, new RegExp(`^Task "${unknown}" not found`));
    }
  });

  it('return findings with any of the given tags, newest first', async () => {
    const add = (content: string, ...tags: string[]) =>
      answer(team, 'coordination_add_discovery', { agent_id: ann, content, tags });
    for (const [content, tags] of [
      ['one', ['a']],
      ['two', ['a', 'b']],
      ['three', ['c']],
      ['four', []],
    ] as const) {
      await add(content, ...tags);
      team.pass(1);
    }
    const list = async (limit: number, tags?: string[]) =>
      (await pages('coordination_get_discoveries', { limit, ...(tags && { tags }) }, contents)).all;
    assert.deepEqual(await list(2), ['four', 'three', 'two', 'one']);
    assert.deepEqual(await list(1, ['a']), ['two', 'one']);
    assert.deepEqual(await list(1, ['b', 'c']), ['three', 'two']);
    assert.deepEqual(await list(9, []), ['four', 'three', 'two', 'one'], 'an empty list of tags selects all findings');
    assert.deepEqual(await list(9, ['A']), []);
  });

  it('contain no items in a workspace without a session and in a new session', async () => {
    const nothing = { truncated: false };
    const expectNothing = async () => {
      assert.deepEqual(await answer(team, 'coordination_get_all_tasks', {}), { tasks: [], ...nothing });
      assert.deepEqual(await answer(team, 'coordination_get_results', {}), { results: [], ...nothing });
      assert.deepEqual(await answer(team, 'coordination_get_discoveries', {}), { discoveries: [], ...nothing });
    };
    await expectNothing();
    await answer(team, 'coordination_init_coordination', { goal: 'One' });
    await team.create({});
    await answer(team, 'coordination_add_discovery', { agent_id: ann, content: 'x' });
    await team.claim(ann);
    await team.complete(ann, (await team.tasks())[0]?.id ?? '');
    await answer(team, 'coordination_init_coordination', { goal: 'Two' });
    await expectNothing();
  });

  const forged = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

  for (const cursor of [
    '',
    'x',
    forged(null),
    forged(['2040', 'a']),
    forged([aTime(), '..']),
    forged([aTime(), '__x__']),
    forged([aTime(), 'a/b']),
  ])
    it(`refuse the invalid cursor ${JSON.stringify(cursor)}`, async () => {
      await team.createOne();
      for (const name of ['get_all_tasks', 'get_results', 'get_discoveries']) {
        const error = await refusedWith(team, `coordination_${name}`, { cursor });
        assert.match(error, /Invalid cursor/);
      }
    });
});

function aTime(): string {
  return '2040-01-01T00:00:00.000Z';
}
