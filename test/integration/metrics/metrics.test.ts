/** Call metrics of several instances, with the real database. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { z } from 'zod';
import {
  agentMetricsPath,
  dayMetricsPath,
  minuteMetricsPath,
  realtimeDatabase,
} from '../../../functions/src/kernel/realtime/database.ts';
import { DatabaseMetricsLedger } from '../../../functions/src/limits/store/ledgers.ts';
import { answer, call } from '../coordination/calls.ts';
import { Team } from '../coordination/team.ts';

const stored = async (path: string): Promise<unknown> => (await (await realtimeDatabase()).ref(path).get()).val();

/** Returns a random minute, so that no other test uses the same minute. */
const someMinute = (): Date => new Date(Date.UTC(2050, 0, 1) + randomInt(20_000_000) * 60_000);

describe('call metrics', () => {
  let team: Team;

  beforeEach(() => {
    team = new Team();
    team.now = someMinute();
  });

  it('are summed by tool, error and agent across all instances', async () => {
    const instances = [team.anotherInstance(), team.anotherInstance(), team.anotherInstance()];
    const [ann, bob] = [team.principal('ann'), team.principal('bob')];
    await Promise.all(
      instances.map(async (app) => {
        for (let made = 0; made < 4; made++) {
          await call(team.at({ app }), 'coordination_get_status', {}, ann);
          await call(team.at({ app }), 'coordination_get_status', { unheard: 'of' }, bob);
          await call(team.at({ app }), 'coordination_create_task', { description: 'x' }, ann);
        }
        await app.limits.callMetrics.flush();
        await call(team.at({ app }), 'coordination_get_status', { unheard: 'of' }, bob);
        await app.limits.callMetrics.flush();
      }),
    );
    const { tools, all } = (await stored(minuteMetricsPath(team.now))) as Record<string, Record<string, Count>>;
    const withoutTime = ({ milliseconds, latencies, ...counts }: Count) => {
      assert.ok(milliseconds >= 0);
      const timed = Object.values(latencies).reduce((sum, one) => sum + one, 0);
      assert.equal(timed, counts.calls, 'every call is in one bucket');
      return counts;
    };
    const status = { calls: 27, failures: 15, errors: { VALIDATION_ERROR: 15 } };
    const create = { calls: 12, failures: 12, errors: { FORBIDDEN: 12 } };
    assert.deepEqual(Object.keys(tools ?? {}), ['coordination%2Ecreate_task', 'coordination%2Eget_status']);
    assert.deepEqual(withoutTime(tools?.['coordination%2Eget_status'] as Count), status);
    assert.deepEqual(withoutTime(tools?.['coordination%2Ecreate_task'] as Count), create);
    assert.deepEqual(withoutTime(all as unknown as Count), {
      calls: 39,
      failures: 27,
      errors: { ...status.errors, ...create.errors },
    });
    const ofAnn = (await stored(agentMetricsPath(team.agentId('ann')))) as Count & { since: number };
    assert.deepEqual(withoutTime(ofAnn), {
      calls: 24,
      failures: 12,
      errors: { FORBIDDEN: 12 },
      since: team.now.getTime(),
    });
  });

  it('are reported as shares of the calls of the last hour, by tool and by error', async () => {
    const seen = z.object({
      metrics: z.object({
        calls: z
          .object({
            windowSeconds: z.number(),
            total: z.number(),
            failed: z.number(),
            errors: z.record(z.string(), z.object({ count: z.number(), rate: z.number() })),
            tools: z.array(
              z.object({
                tool: z.string(),
                calls: z.number(),
                failed: z.number(),
                errorRate: z.number(),
                errors: z.record(z.string(), z.object({ count: z.number(), rate: z.number() })),
              }),
            ),
          })
          .optional(),
      }),
    });
    const look = async () =>
      seen.parse(await answer(team.at({ app: team.anotherInstance() }), 'system_getSystemStatus', {}, team.leader))
        .metrics.calls;
    assert.equal(await look(), undefined, 'without calls, no metrics are reported');
    const app = team.anotherInstance();
    const ann = team.principal('ann');
    for (let made = 0; made < 3; made++) await call(team.at({ app }), 'coordination_get_status', {}, ann);
    await call(team.at({ app }), 'coordination_get_status', { unheard: 'of' }, ann);
    await call(team.at({ app }), 'coordination_create_task', { description: 'x' }, ann);
    await app.limits.callMetrics.flush();
    team.pass(120);
    assert.deepEqual(await look(), {
      windowSeconds: 3600,
      total: 5,
      failed: 2,
      errors: { VALIDATION_ERROR: { count: 1, rate: 0.2 }, FORBIDDEN: { count: 1, rate: 0.2 } },
      tools: [
        {
          tool: 'coordination.get_status',
          calls: 4,
          failed: 1,
          errorRate: 0.25,
          errors: { VALIDATION_ERROR: { count: 1, rate: 0.25 } },
        },
        {
          tool: 'coordination.create_task',
          calls: 1,
          failed: 1,
          errorRate: 1,
          errors: { FORBIDDEN: { count: 1, rate: 1 } },
        },
      ],
    });
    team.pass(3600);
    assert.equal(await look(), undefined, 'calls from over an hour ago are not reported');
  });

  it('include the time at which an agent was first counted by any instance', async () => {
    const first = team.now.getTime();
    const ann = team.principal('ann');
    for (const app of [team.anotherInstance(), team.anotherInstance()]) {
      await call(team.at({ app }), 'coordination_get_status', {}, ann);
      await app.limits.callMetrics.flush();
      team.pass(60);
    }
    const counts = (await stored(agentMetricsPath(team.agentId('ann')))) as Record<string, number>;
    assert.equal(counts['since'], first);
    assert.equal(counts['calls'], 2);
  });

  it('are stored per minute, and are deleted after a day', async () => {
    const ledger = new DatabaseMetricsLedger({ database: realtimeDatabase, clock: { now: () => team.now } });
    const minutes: Date[] = [];
    for (const seconds of [0, 60, 23 * 3600, 1800]) {
      team.pass(seconds);
      minutes.push(team.now);
      await call(team, 'coordination_get_status', {}, team.leader);
      await team.app.limits.callMetrics.flush();
    }
    team.pass(1800);
    while ((await ledger.expire()) > 0);
    const kept = await Promise.all(minutes.map(async (minute) => (await stored(minuteMetricsPath(minute))) !== null));
    assert.deepEqual(kept, [false, true, true, true]);
  });

  it('are stored per day by latency, and are deleted after 30 days', async () => {
    const ledger = new DatabaseMetricsLedger({ database: realtimeDatabase, clock: { now: () => team.now } });
    const latencies = [0, 49, 50, 12_799, 12_800, 60_000];
    const midnight = new Date(Math.floor(team.now.getTime() / 86_400_000) * 86_400_000);
    team.now = midnight;
    for (const milliseconds of latencies) {
      const at = new Date(midnight.getTime() + milliseconds);
      await team.app.limits.callMetrics.record({ tool: 'todo.list_tasks', outcome: 'OK', milliseconds, at });
    }
    await team.app.limits.callMetrics.flush();
    const counts = {
      calls: 6,
      failures: 0,
      milliseconds: latencies.reduce((sum, one) => sum + one, 0),
      latencies: { b0: 2, b1: 1, b8: 1, b9: 2 },
    };
    const day = { all: counts, tools: { 'todo%2Elist_tasks': counts } };
    assert.deepEqual(await stored(dayMetricsPath(midnight)), day, 'two minutes are added up');
    team.pass(30 * 86_400);
    while ((await ledger.expire()) > 0);
    assert.deepEqual(await stored(dayMetricsPath(midnight)), day);
    team.pass(86_400);
    while ((await ledger.expire()) > 0);
    assert.equal(await stored(dayMetricsPath(midnight)), null);
  });
});

interface Count {
  readonly calls: number;
  readonly failures: number;
  readonly milliseconds: number;
  readonly latencies: Readonly<Record<string, number>>;
  readonly errors?: Readonly<Record<string, number>>;
}
