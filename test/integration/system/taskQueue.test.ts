import assert from 'node:assert/strict';
import { z } from 'zod';
import type { Task } from '../../../functions/src/toolsets/coordination/rules/task.ts';
import { answer, call } from '../coordination/calls.ts';
import { Team, unkeyed } from '../coordination/team.ts';

const queue = z.object({
  tasks: z.array(
    z.object({
      id: z.string(),
      type: z.string(),
      priority: z.string(),
      status: z.string(),
      title: z.string(),
      assignedTo: z.string().optional(),
      dependencies: z.array(z.string()),
    }),
  ),
  queueStats: z.object({
    total: z.number(),
    pending: z.number(),
    assigned: z.number(),
    inProgress: z.number(),
    blocked: z.number(),
    avgWaitTime: z.number().optional(),
    oldestTask: z.string().optional(),
  }),
  truncated: z.boolean(),
  nextCursor: z.string().optional(),
});

type Queue = z.output<typeof queue>;

describe('system.getTaskQueue', () => {
  let team: Team;
  let agentId: string;

  const look = async (args = {}): Promise<Queue> => queue.parse(await answer(team, 'system_getTaskQueue', args));
  const titles = async (args = {}) => (await look(args)).tasks.map(({ title }) => title);

  beforeEach(async () => {
    team = new Team();
    agentId = await team.join('worker');
    await team.allow(agentId, 2);
  });

  /** Creates six tasks: two held, two claimable and two blocked. */
  async function fill(): Promise<void> {
    await team.create(
      { description: 'held', priority: 1 },
      { description: 'started', priority: 2 },
      { description: 'next\nwith more to say', priority: 3 },
      { description: 'later', priority: 9 },
      { description: 'waits for one', priority: 1, dependencies: ['task-3'] },
      { description: 'waits for two', priority: 1, dependencies: ['task-3', 'task-4'] },
    );
    team.pass(10);
    const heldTaskIds = (await team.claim(agentId)) ?? '';
    team.pass(10);
    await team.start(agentId, (await team.claimBeside(agentId, [heldTaskIds])) ?? '');
  }

  it('returns an empty queue for a new workspace', async () => {
    const { tasks, queueStats, truncated } = await look();
    assert.deepEqual([tasks, truncated], [[], false]);
    assert.deepEqual(queueStats, { total: 0, pending: 0, assigned: 0, inProgress: 0, blocked: 0 });
  });

  it('lists claimable tasks in queue order, then blocked tasks', async () => {
    await fill();
    const { tasks } = await look();
    const rows = tasks.map(({ title, status, priority, type }) => [title, status, priority, type]);
    assert.deepEqual(rows, [
      ['next', 'pending', 'high', 'coordination'],
      ['later', 'pending', 'low', 'coordination'],
      ['waits for one', 'blocked', 'critical', 'coordination'],
      ['waits for two', 'blocked', 'critical', 'coordination'],
    ]);
  });

  it('lists held tasks if the arguments ask for them', async () => {
    await fill();
    const all = await look({ includeAssigned: true });
    const held = all.tasks.filter((task) => task.assignedTo !== undefined);
    const rows = held.map(({ title, status, assignedTo }) => [title, status, assignedTo]);
    assert.deepEqual(rows, [
      ['held', 'assigned', agentId],
      ['started', 'in_progress', agentId],
    ]);
    assert.deepEqual(await titles({ status: 'assigned' }), ['held']);
    assert.deepEqual(await titles({ status: 'in_progress' }), ['started']);
    assert.deepEqual(await titles({ status: 'blocked' }), ['waits for one', 'waits for two']);
    assert.deepEqual(await titles({ agentId }), ['held', 'started']);
    assert.deepEqual(await titles({ agentId, status: 'in_progress' }), ['started']);
    assert.deepEqual(await titles({ agentId, status: 'blocked' }), []);
  });

  it('lists only tasks that a given agent may claim', async () => {
    await team.create({ description: 'for any agent' }, { description: 'flying', required_capabilities: ['fly'] });
    assert.deepEqual(await titles({ agentId, status: 'pending' }), ['for any agent']);
    const pilot = await team.join('pilot', ['Fly']);
    assert.deepEqual(await titles({ agentId: pilot, status: 'pending' }), ['for any agent', 'flying']);
  });

  it('filters by priority and type', async () => {
    await fill();
    assert.deepEqual(await titles({ priority: 'critical', includeAssigned: true }), [
      'waits for one',
      'waits for two',
      'held',
      'started',
    ]);
    assert.deepEqual(await titles({ priority: 'high' }), ['next']);
    assert.deepEqual(await titles({ priority: 'normal' }), []);
    assert.deepEqual(await titles({ type: 'coordination', priority: 'low' }), ['later']);
    assert.deepEqual(await titles({ type: 'analysis' }), []);
    assert.deepEqual(await titles({ priority: 'critical', agentId }), ['held', 'started']);
  });

  it('lists the same tasks in the same order with any page size', async () => {
    await fill();
    const all = await titles({ includeAssigned: true });
    assert.equal(all.length, 6);
    for (const limit of [1, 2, 4, 5]) {
      const seen: string[] = [];
      for (let cursor: string | undefined; ; ) {
        const page = await look({ includeAssigned: true, limit, ...(cursor !== undefined && { cursor }) });
        seen.push(...page.tasks.map(({ title }) => title));
        assert.equal(page.truncated, page.nextCursor !== undefined);
        if (page.nextCursor === undefined) break;
        cursor = page.nextCursor;
      }
      assert.deepEqual(seen, all, `pages of ${limit}`);
    }
  });

  it('counts the whole queue, even if a filter is set', async () => {
    await fill();
    const counted = { total: 6, pending: 2, assigned: 1, inProgress: 1, blocked: 2 };
    const { queueStats } = await look({ priority: 'normal' });
    assert.deepEqual(queueStats, { ...counted, avgWaitTime: 15_000, oldestTask: '2040-01-01T00:00:00.000Z' });
  });

  it("updates its counts when tasks end, and counts each task's wait for its claim once", async () => {
    await fill();
    for (const { id } of (await look({ agentId })).tasks) await team.complete(agentId, id);
    team.pass(10);
    const next = await team.claim(agentId, 60);
    await team.fail(agentId, next ?? '', true);
    let { queueStats } = await look();
    assert.deepEqual([queueStats.total, queueStats.pending, queueStats.blocked], [4, 1, 3]);
    assert.equal(queueStats.avgWaitTime, 20_000);
    team.pass(60);
    await team.sweep();
    const again = await team.claim(agentId);
    assert.equal(again, next);
    await team.complete(agentId, again ?? '');
    ({ queueStats } = await look());
    assert.deepEqual([queueStats.total, queueStats.pending, queueStats.blocked], [3, 2, 1]);
    assert.equal(queueStats.avgWaitTime, 20_000, 'a second claim does not count as another wait');
  });

  describe('cached responses of the task queue', () => {
    const waits = async (app = team.app) => {
      const { structuredContent } = await call(
        team.at({ app }),
        'system_getTaskQueue',
        { includeAssigned: true },
        team.leader,
      );
      return Object(structuredContent).tasks[0].metadata;
    };

    /** Commits a change that updates no counter, such as a question, a budget or a stuck task. */
    async function change(app: Team['app'], fields: Partial<Task>): Promise<void> {
      const { tasks } = app.coordination.ports;
      const { store } = app.kernel;
      const known = await tasks.find((await look({ includeAssigned: true })).tasks[0]?.id ?? '');
      assert.ok(known);
      const { value: before, version } = known;
      await store.commit([{ kind: 'replaceTask', task: { ...before, ...fields }, before, version }]);
    }

    const CHANGES: Readonly<Record<string, Partial<Task>>> = {
      waitingFor: { waiting_for: { request_id: 'r', who: 'Ada', until: new Date('2050-01-01T00:00:00Z') } },
      retryAt: { retry_at: new Date('2050-01-01T00:00:00Z') },
      priority: { priority: 9 },
      stuck: { failed_dependencies: ['task-gone'], stuck: true },
    };

    for (const [field, fields] of Object.entries(CHANGES))
      it(`show a change of ${field} at once at the instance that made it, and after 5 s at others`, async () => {
        await team.createOne();
        if (field === 'waitingFor') await team.claim(agentId);
        const other = team.anotherInstance();
        const before = JSON.stringify(await waits());
        assert.equal(JSON.stringify(await waits(other)), before);
        await change(team.app, fields);
        assert.notEqual(JSON.stringify(await waits()), before);
        team.pass(5);
        assert.equal(JSON.stringify(await waits(other)), JSON.stringify(await waits()));
      });
  });

  it('reports an agent of another workspace as unknown, unless its owner is the caller', async () => {
    const other = new Team();
    const theirs = await other.join('theirs');
    const refusalOf = async (name: string, principal = team.leader) => {
      const asked = await call(team, 'system_getTaskQueue', { agentId: name }, principal);
      assert.equal(asked.isError, true);
      return JSON.stringify(asked.structuredContent).replaceAll(name, '{agent}');
    };
    const none = await refusalOf('nobody-x');
    assert.match(none, /-32200.*not found/);
    assert.equal(await refusalOf(theirs), none);
    const viewer = team.principal('viewer', 'viewer');
    assert.equal(await refusalOf(theirs, viewer), none);
    assert.deepEqual(await titles({ agentId }), []);
    const ofTheirOwner = await call(team, 'system_getTaskQueue', { agentId: theirs }, other.leader);
    assert.equal(ofTheirOwner.isError, undefined);
    // The agent holds a task in another workspace. It must not be listed.
    await other.createOne();
    await other.claim(theirs);
    const { membership } = team.app.services;
    const joining = { agentId: theirs, role: 'worker', workspace: team.workspace } as const;
    await membership.join(other.principal('theirs'), joining, unkeyed);
    assert.deepEqual(await titles({ agentId: theirs }), []);
  });

  it("finds the caller's terminal if another caller's terminal has the same name", async () => {
    const name = `terminal-${team.workspace}`;
    const { membership } = team.app.services;
    const register = async (who: string) => {
      const joining = { agentId: name, role: 'worker', workspace: team.workspace } as const;
      return (await membership.join(team.principal(who), joining, unkeyed)).agent.id;
    };
    const [first, second] = [await register('one'), await register('two')];
    assert.notEqual(first, second);
    const task = await team.createOne({ description: 'of the second' });
    assert.equal(await team.claim(second), task.id);
    const of = async (who: string) => {
      const looked = await answer(team, 'system_getTaskQueue', { agentId: name }, team.principal(who));
      return queue.parse(looked).tasks.map(({ title }) => title);
    };
    assert.deepEqual([await of('one'), await of('two')], [[], ['of the second']]);
  });
});
