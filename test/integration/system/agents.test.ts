import assert from 'node:assert/strict';
import { z } from 'zod';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { agentPath } from '../../../functions/src/kernel/firestore/paths.ts';
import { presencePath, realtimeDatabase } from '../../../functions/src/kernel/realtime/database.ts';
import { answer, call } from '../coordination/calls.ts';
import { Team, unkeyed } from '../coordination/team.ts';

const listed = z.object({
  agents: z.array(
    z.object({
      id: z.string(),
      status: z.string(),
      currentTasks: z.number(),
      maxTasks: z.number(),
      lastSeen: z.iso.datetime(),
      metrics: z.record(z.string(), z.number()).optional(),
    }),
  ),
  summary: z.object({
    total: z.number(),
    active: z.number(),
    idle: z.number(),
    busy: z.number(),
    offline: z.number(),
    error: z.number(),
  }),
  truncated: z.boolean(),
  nextCursor: z.string().optional(),
});

type Listed = z.output<typeof listed>;

/** Seconds without a call after which an agent is offline. */
const SILENCE_SECONDS = 181;

describe('system.getAgents', () => {
  let team: Team;
  /** A capability that only this test's agents have. */
  let skill: string;

  beforeEach(() => {
    team = new Team();
    skill = `skill-${team.workspace}`;
  });

  const list = async (args = {}): Promise<Listed> =>
    listed.parse(await answer(team, 'system_getAgents', { capabilities: [skill], ...args }));

  async function statusOf(agentId: string): Promise<string | undefined> {
    const { agents } = await list();
    return agents.find(({ id }) => id === agentId)?.status;
  }

  async function worker(name: string, maxTasks = 2): Promise<string> {
    const agentId = await team.join(name, [skill, 'Typing']);
    await team.allow(agentId, maxTasks);
    return agentId;
  }

  it('skips an unreadable agent, but lists an agent with an invalid presence time', async () => {
    const [whole, broken, away] = [await worker('whole'), await worker('broken'), await worker('away')];
    await firestore().doc(agentPath(broken)).update({ 'configuration.max_concurrent_tasks': 0.5 });
    await (await realtimeDatabase()).ref(presencePath(away)).set({ last_seen: 1e300 });
    const { agents } = await list({ includeMetrics: true });
    assert.deepEqual(agents.map(({ id }) => id).sort(), [away, whole].sort());
    await (await realtimeDatabase()).ref(presencePath(away)).remove();
  });

  it('reports the status idle, active, busy or error of an agent as it works', async () => {
    const agentId = await worker('walker');
    await team.create({}, {}, {});
    assert.equal(await statusOf(agentId), 'idle');
    const first = await team.claim(agentId);
    await team.start(agentId, first ?? '');
    assert.equal(await statusOf(agentId), 'active');
    const second = await team.claim(agentId);
    assert.equal(await statusOf(agentId), 'busy');
    await team.complete(agentId, first ?? '');
    assert.equal(await statusOf(agentId), 'active');
    await team.fail(agentId, second ?? '');
    assert.equal(await statusOf(agentId), 'error');
    const third = await team.claim(agentId);
    assert.equal(await statusOf(agentId), 'active');
    await team.complete(agentId, third ?? '');
    assert.equal(await statusOf(agentId), 'idle');
  });

  it('reports offline after three minutes without a call, before and after the sweep', async () => {
    const agentId = await worker('sleeper');
    team.pass(SILENCE_SECONDS - 2);
    assert.equal(await statusOf(agentId), 'idle');
    team.pass(2);
    assert.equal(await statusOf(agentId), 'offline');
    assert.deepEqual((await list({ status: 'idle' })).agents, []);
    await team.sweep();
    assert.equal(await statusOf(agentId), 'offline');
    const { agents } = await list({ status: 'offline' });
    assert.deepEqual([agents.length, agents[0]?.lastSeen], [1, '2040-01-01T00:00:00.000Z']);
  });

  it('lists an agent in its home workspace and in every workspace in which it has a role', async () => {
    const other = new Team();
    const [ours, both, theirs] = [await worker('ours'), await worker('both'), other.agentId('theirs')];
    await other.join('theirs', [skill]);
    const { membership } = team.app.services;
    const joining = { agentId: both, role: 'worker', workspace: other.workspace } as const;
    await membership.join(team.principal('both'), joining, unkeyed);
    const of = async (asked: Team, args = {}): Promise<string[]> => {
      const { agents } = listed.parse(await answer(asked, 'system_getAgents', args));
      return agents.map(({ id }) => id).sort();
    };
    for (const args of [{}, { capabilities: [skill] }, { status: 'idle' }, { type: 'specialist' }]) {
      assert.deepEqual(await of(team, args), [ours, both].sort(), JSON.stringify(args));
      assert.deepEqual(await of(other, args), [both, theirs].sort(), JSON.stringify(args));
      assert.deepEqual(await of(new Team(), args), [], JSON.stringify(args));
    }
    const { summary } = await list();
    assert.deepEqual([summary.total, summary.idle], [2, 2]);
    const live = z.object({ agents: z.array(z.object({ name: z.string(), kind: z.string() })) });
    const { agents } = live.parse(await answer(other, 'orchestration_list_agents', { role: skill }));
    assert.deepEqual(agents.map(({ name }) => name).sort(), [both, theirs].sort());
  });

  describe('the summary', () => {
    async function changeOf(act: () => Promise<unknown>): Promise<Record<string, number>> {
      const before: Record<string, number> = (await list()).summary;
      await act();
      const after = Object.entries((await list()).summary);
      const changed = after.map(([state, count]) => [state, count - (before[state] ?? 0)] as const);
      return Object.fromEntries(changed.filter(([, by]) => by !== 0));
    }

    it('counts every agent of the workspace, even if a filter is set', async () => {
      let agentId = '';
      const joined = await changeOf(async () => {
        agentId = await worker('counted', 1);
      });
      assert.deepEqual(joined, { total: 1, idle: 1 });
      await team.create({}, {}, {});
      const claimed = await changeOf(() => team.claim(agentId));
      assert.deepEqual(claimed, { idle: -1, busy: 1 });
      const [held = ''] = Object.keys((await team.app.access.ports.agents.find(agentId))?.value.held ?? {});
      assert.deepEqual(await changeOf(() => team.fail(agentId, held)), { busy: -1, error: 1 });
      const missing = await changeOf(async () => {
        team.pass(SILENCE_SECONDS);
        await team.sweep();
      });
      assert.deepEqual(missing, { error: -1, offline: 1 });
      assert.deepEqual(await changeOf(() => team.claim(agentId)), { offline: -1, busy: 1 });
    });

    it('counts an agent only once if it registers again', async () => {
      const agentId = await worker('again');
      assert.deepEqual(await changeOf(() => team.join('again', [skill])), {});
      assert.equal(await statusOf(agentId), 'idle');
    });
  });

  it('counts one free slot if a lease has expired and the outcome was reported late', async () => {
    const agentId = await worker('late', 1);
    await team.createOne();
    const task = await team.claim(agentId, 60);
    assert.equal(await statusOf(agentId), 'busy');
    team.pass(SILENCE_SECONDS);
    await team.sweep();
    await team.complete(agentId, task ?? '');
    await team.join('late');
    assert.equal(await statusOf(agentId), 'idle');
    await team.createOne();
    await team.claim(agentId);
    const { agents } = await list({ status: 'busy' });
    const rows = agents.map(({ id, currentTasks, maxTasks }) => [id, currentTasks, maxTasks]);
    assert.deepEqual(rows, [[agentId, 1, 1]]);
    assert.ok((await everyId({ status: 'busy', capabilities: [] })).includes(agentId));
  });

  async function everyId(args: Record<string, unknown>): Promise<string[]> {
    const ids: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await list({ ...args, ...(cursor !== undefined && { cursor }) });
      ids.push(...page.agents.map(({ id }) => id));
      if (page.nextCursor === undefined) return ids;
      cursor = page.nextCursor;
    }
  }

  it('lists the agents of each status, page by page', async () => {
    const idle = await Promise.all([1, 2, 3].map((number) => worker(`idle-${number}`)));
    const working = await Promise.all([1, 2, 3].map((number) => worker(`working-${number}`)));
    const busy = await Promise.all([1, 2, 3].map((number) => worker(`busy-${number}`, 1)));
    await team.create(...Array.from({ length: 6 }, () => ({})));
    for (const agentId of [...working, ...busy]) assert.ok(await team.claim(agentId));
    const ours = new Set([...idle, ...working, ...busy]);
    for (const [status, expected] of [
      ['idle', idle],
      ['active', working],
      ['busy', busy],
    ] as const) {
      assert.deepEqual((await everyId({ status, limit: 2 })).sort(), [...expected].sort(), status);
      const byStatusAlone = await everyId({ status, limit: 2, capabilities: [] });
      assert.deepEqual(byStatusAlone.filter((id) => ours.has(id)).sort(), [...expected].sort(), status);
      assert.equal(new Set(byStatusAlone).size, byStatusAlone.length, 'no agent is listed twice');
    }
    assert.deepEqual((await everyId({ limit: 2 })).sort(), [...ours].sort());
  });

  it('lists agents that have all given capabilities, in any letter case', async () => {
    const agentId = await worker('typist');
    const ids = async (capabilities: string[]) => (await list({ capabilities })).agents.map(({ id }) => id);
    assert.deepEqual(await ids([skill.toUpperCase(), 'typing']), [agentId]);
    assert.deepEqual(await ids([skill, 'flying']), []);
    assert.deepEqual((await list({ type: 'specialist' })).agents.length, 1);
    assert.deepEqual((await list({ type: 'researcher' })).agents, []);
  });

  it('returns metrics of closed tasks, and omits metrics without data', async () => {
    const agentId = await worker('measured');
    const metrics = async () => (await list({ includeMetrics: true })).agents[0]?.metrics;
    assert.deepEqual(await metrics(), { uptime: 0 });
    await team.create({}, {});
    const first = await team.claim(agentId);
    team.pass(30);
    await team.complete(agentId, first ?? '');
    const second = await team.claim(agentId);
    team.pass(10);
    await team.fail(agentId, second ?? '');
    assert.deepEqual(await metrics(), { tasksCompleted: 1, successRate: 0.5, avgResponseTime: 20_000, uptime: 40 });
    assert.equal((await list()).agents[0]?.metrics, undefined);
    team.pass(SILENCE_SECONDS);
    await team.sweep();
    assert.equal((await metrics())?.['uptime'], undefined);
  });

  it('rejects a cursor of another list', async () => {
    await Promise.all([worker('one'), worker('two')]);
    const { nextCursor = '' } = await list({ limit: 1 });
    for (const args of [
      { capabilities: [skill], status: 'idle', cursor: nextCursor },
      { cursor: 'bm9uZQ' },
      { cursor: Buffer.from('["", [1e99], "a"]').toString('base64url') },
    ]) {
      const { isError, structuredContent } = await call(team, 'system_getAgents', args);
      assert.equal(isError, true, JSON.stringify(structuredContent));
    }
  });
});
