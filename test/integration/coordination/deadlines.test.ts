/** Deadlines and types of tasks: the order in which tasks are claimed and listed, and reports of late tasks. */
import assert from 'node:assert/strict';
import { FieldValue } from '@google-cloud/firestore';
import fc from 'fast-check';
import { z } from 'zod';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { taskPath } from '../../../functions/src/kernel/firestore/paths.ts';
import type { TaskDraft } from '../../../functions/src/toolsets/coordination/rules/creation.ts';
import { compareInQueue } from '../../../functions/src/toolsets/coordination/rules/task.ts';
import { inRuns } from '../../support/properties.ts';
import { answer, refusedWith } from './calls.ts';
import { Team } from './team.ts';

const queuePage = z.object({
  tasks: z.array(z.object({ id: z.string(), type: z.string(), deadline: z.string().optional() })),
  nextCursor: z.string().optional(),
});

const statusOfLate = z.object({
  late: z
    .object({
      count: z.number(),
      tasks: z.array(z.object({ id: z.string(), deadline: z.string(), status: z.string() }).loose()),
    })
    .optional(),
});

describe('the task queue with deadlines and types', () => {
  let team: Team;

  const within = (seconds: number): Date => new Date(team.now.getTime() + seconds * 1000);

  async function listed(args: { limit: number; [name: string]: string | number }): Promise<string[]> {
    const ids: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const asked = { ...args, ...(cursor !== undefined && { cursor }) };
      const page = queuePage.parse(await answer(team, 'system_getTaskQueue', asked));
      assert.ok(page.tasks.length <= args.limit);
      ids.push(...page.tasks.map(({ id }) => id));
      if (page.nextCursor === undefined) return ids;
      cursor = page.nextCursor;
    }
  }

  beforeEach(() => {
    team = new Team();
  });

  it('orders tasks of equal priority by deadline, and tasks without a deadline last', async () => {
    const [old, none, later, soon, urgent] = await team.create(
      { description: 'old' },
      { description: 'none' },
      { description: 'later', deadline: within(7200) },
      { description: 'soon', deadline: within(3600) },
      { description: 'urgent', priority: 1 },
    );
    assert.ok(old && none && later && soon && urgent);
    await firestore().doc(taskPath(old.id)).update({ given_type: FieldValue.delete() });
    const expected = [urgent.id, soon.id, later.id, old.id, none.id];
    assert.deepEqual(await listed({ limit: 2 }), expected);
    const agent = await team.join('ann');
    for (const id of expected) {
      assert.equal(await team.claim(agent), id);
      await team.complete(agent, id);
    }
  });

  it('lists each task once, in queue order, with any page size', async () => {
    const draft: fc.Arbitrary<Partial<TaskDraft>> = fc.record({
      priority: fc.integer({ min: 4, max: 6 }),
      deadline: fc.option(
        fc.integer({ min: 1, max: 4 }).map((hours) => within(hours * 3600)),
        { nil: undefined },
      ),
      type: fc.constantFrom(undefined, 'research'),
    });
    const drafts = fc.array(draft, { minLength: 6, maxLength: 10 });
    await inRuns(4).forAllAsync(drafts, drafts, fc.constantFrom(1, 2, 3, 7), async (first, second, limit) => {
      team = new Team();
      const tasks = [...(await team.create(...first))];
      team.pass(1);
      tasks.push(...(await team.create(...second)));
      const idsOf = (some: typeof tasks) => some.map(({ id }) => id);
      const sorted = tasks.toSorted(compareInQueue);
      assert.deepEqual(await listed({ limit }), idsOf(sorted));
      const few = sorted.filter(({ given_type: type, priority }) => type === 'research' && priority >= 5);
      assert.deepEqual(await listed({ limit, type: 'research', priority: 'normal' }), idsOf(few));
    });
  });

  it('lists tasks without a deadline after several pages of tasks with a deadline', async () => {
    const dated = Array.from({ length: 30 }, (_, index) => ({ deadline: within(3600 + index) }));
    const tasks = await team.create(...dated, {}, {});
    const ids = tasks.map(({ id }) => id);
    assert.deepEqual(await listed({ limit: 6 }), ids);
  });

  it('reports the number of open late tasks, and lists at most ten of them', async () => {
    const agent = await team.join('ann');
    const status = async () => statusOfLate.parse(await answer(team, 'coordination_get_status', {})).late;
    assert.equal(await status(), undefined);
    const [first, second] = await team.create(
      { deadline: within(60) },
      { deadline: within(30), dependencies: ['task-1'] },
      { deadline: within(3600) },
      {},
    );
    assert.ok(first && second);
    assert.equal(await status(), undefined, 'no deadline has passed');
    await team.claim(agent);
    team.pass(120);
    assert.deepEqual(await status(), {
      count: 2,
      tasks: [
        { id: second.id, deadline: second.deadline?.toISOString(), status: 'available' },
        { id: first.id, deadline: first.deadline?.toISOString(), status: 'claimed', claimed_by: agent },
      ],
    });
    await team.complete(agent, first.id);
    assert.equal((await status())?.count, 1);
    const more = Array.from({ length: 12 }, () => ({ deadline: within(1) }));
    await team.create(...more);
    team.pass(10);
    const late = await status();
    assert.deepEqual([late?.count, late?.tasks.length], [13, 10]);
  });

  it('can be filled and listed with tools that accept and return deadline and type', async () => {
    const deadline = '2040-01-02T12:00:00+02:00';
    const created = z
      .object({ task: z.object({ id: z.string(), type: z.string(), deadline: z.string() }) })
      .parse(await answer(team, 'coordination_create_task', { description: 'A', type: 'bug-fix', deadline }));
    assert.deepEqual([created.task.type, created.task.deadline], ['bug-fix', '2040-01-02T10:00:00.000Z']);
    team.pass(1);
    await answer(team, 'coordination_create_tasks_batch', {
      tasks: [{ description: 'B', type: 'research', deadline }, { description: 'C' }],
    });
    const queue = queuePage.parse(await answer(team, 'system_getTaskQueue', {}));
    const rows = queue.tasks.map(({ type, deadline: at }) => [type, at]);
    assert.deepEqual(rows, [
      ['bug-fix', '2040-01-02T10:00:00.000Z'],
      ['research', '2040-01-02T10:00:00.000Z'],
      ['coordination', undefined],
    ]);
    for (const type of ['research', 'bug-fix', 'coordination']) {
      const { tasks } = queuePage.parse(await answer(team, 'system_getTaskQueue', { type }));
      const types = tasks.map((task) => task.type);
      assert.deepEqual(types, [type]);
    }
    const agent = await team.join('ann');
    const mine = { agentId: agent, status: 'pending', type: 'research' };
    assert.equal(queuePage.parse(await answer(team, 'system_getTaskQueue', mine)).tasks.length, 1);
    await team.claim(agent);
    assert.equal((await team.task(created.task.id))?.given_type, 'bug-fix', 'a claim does not change the type');
  });

  it('rejects an invalid deadline or type, and the error names the valid values', async () => {
    const refused = (args: object) => refusedWith(team, 'coordination_create_task', { description: 'A', ...args });
    assert.match(await refused({ deadline: '2039-12-31T00:00:00Z' }), /is in the past.*2040-01-01/s);
    assert.match(await refused({ deadline: 'tomorrow' }), /deadline/);
    assert.match(await refused({ type: 'Bug Fix' }), /type.*lowercase word/s);
    assert.match(await refused({ type: 'coding' }), /coding_create_task/);
    assert.equal((await team.tasks()).length, 0);
  });
});
