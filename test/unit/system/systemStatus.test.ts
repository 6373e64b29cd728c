/** Checks of the services that a deployment uses: timeouts, caching and the reported health. */
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { SweepState } from '../../../functions/src/kernel/sweep.ts';
import type { RateLimit } from '../../../functions/src/toolsets/github/rules/responses.ts';
import type { Probes } from '../../../functions/src/toolsets/system/rules/ports.ts';
import {
  alertsOf,
  healthOf,
  type Reading,
  type StatusPorts,
  SystemStatus,
} from '../../../functions/src/toolsets/system/rules/status.ts';
import { START, secondsAfterStart } from '../../support/builders.ts';
import { portsOf } from '../../support/ports.ts';

const never = () => new Promise<never>(() => undefined);
const NOBODY = { total: 0, leaders: 0, active: 0, registered: 0, online: 0 };

describe('system status', () => {
  let now = START;
  let asked: string[] = [];
  let readSweepRecord: () => Promise<SweepState>;

  beforeEach(() => {
    readSweepRecord = async () => ({ behind: {} });
    now = START;
    asked = [];
  });

  /** Starts a call, advances the simulated timers by this time, and returns the call's result. */
  async function waiting<Result>(milliseconds: number, begin: () => Promise<Result>): Promise<Result> {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const result = begin();
      await setImmediate();
      mock.timers.tick(milliseconds);
      return await result;
    } finally {
      mock.timers.reset();
    }
  }

  const answering =
    (name: string, outcome: () => Promise<void> = async () => undefined) =>
    () => {
      asked.push(name);
      return outcome();
    };

  const status = (
    probes: Partial<Probes> = {},
    counts = async () => NOBODY,
    gitHub?: () => Promise<RateLimit>,
  ): SystemStatus =>
    new SystemStatus(
      portsOf<StatusPorts>({
        probes: { firestore: answering('firestore'), realtimeDatabase: answering('realtimeDatabase'), ...probes },
        gitHub: { configured: gitHub !== undefined, rateLimit: gitHub ?? never },
        directory: { list: never, count: never, leaders: never, online: never, counts },
        sweepRecord: { read: readSweepRecord },
        unreadable: { recent: async () => [] },
        clock: { now: () => now },
        workQueue: { stats: async () => ({ total: 3, pending: 3, assigned: 0, inProgress: 0, blocked: 0 }) },
      }),
    );

  it('checks every service once, and caches the result for 15 seconds', async () => {
    const system = status();
    const [first] = await Promise.all([system.readings(), system.readings()]);
    assert.deepEqual(Object.keys(first), ['firestore', 'realtimeDatabase']);
    assert.deepEqual(asked.sort(), ['firestore', 'realtimeDatabase']);
    now = secondsAfterStart(14.9);
    assert.equal(await system.readings(), first);
    now = secondsAfterStart(15);
    assert.notEqual(await system.readings(), first);
    assert.equal(asked.length, 4);
  });

  it('includes a check of GitHub if the deployment has a GitHub credential', async () => {
    const rateLimit = { limit: 5000, remaining: 4000, reset: secondsAfterStart(60) };
    const { github } = await status({}, undefined, async () => rateLimit).readings();
    assert.deepEqual([github?.isUp, github?.rateLimit], [true, rateLimit]);
    const refused = await status({}, undefined, () => Promise.reject(new Error('no'))).readings();
    assert.deepEqual([refused.github?.isUp, healthOf(refused)], [false, 'degraded']);
  });

  it('waits one second for the Realtime Database, and never runs two of its checks at a time', async () => {
    const system = status({ realtimeDatabase: answering('realtimeDatabase', never) });
    const { firestore, realtimeDatabase } = await waiting(1000, () => system.readings());
    assert.deepEqual([firestore?.isUp, realtimeDatabase?.isUp], [true, false]);
    now = secondsAfterStart(20);
    await system.readings();
    assert.deepEqual(asked, ['firestore', 'realtimeDatabase', 'firestore']);
  });

  it('checks a service again at the next call if the service refused the last check', async () => {
    let isDown = true;
    const probe = answering('firestore', async () => {
      if (isDown) throw new Error('refused');
    });
    const system = status({ firestore: probe });
    assert.equal(healthOf(await system.readings()), 'critical');
    isDown = false;
    now = secondsAfterStart(15);
    assert.equal(healthOf(await system.readings()), 'healthy');
  });

  it('reports the workload, or no workload if Firestore does not respond in time', async () => {
    assert.deepEqual(await status().workload('alpha'), { activeAgents: 0, tasksInQueue: 3 });
    assert.equal(await waiting(2000, () => status({}, never).workload('alpha')), undefined);
  });

  const reading = (isUp: boolean): Reading => ({ isUp, milliseconds: 5, at: START });
  const up = { firestore: reading(true), realtimeDatabase: reading(true), github: reading(true) };

  it('is as severe as the failure of the unavailable service', () => {
    const cases = [
      [up, 'healthy', []],
      [{ ...up, github: reading(false) }, 'degraded', ['warning']],
      [{ ...up, realtimeDatabase: reading(false) }, 'degraded', ['warning']],
      [{ ...up, firestore: reading(false) }, 'critical', ['critical']],
      [{ firestore: reading(false), realtimeDatabase: reading(false) }, 'critical', ['critical', 'warning']],
      [{ firestore: reading(true), realtimeDatabase: reading(true) }, 'healthy', []],
    ] as const;
    for (const [readings, health, levels] of cases) {
      assert.equal(healthOf(readings), health);
      const alertLevels = alertsOf(readings).map(({ level }) => level);
      assert.deepEqual(alertLevels, levels);
    }
  });

  it('reports parts of the sweep that have been behind for 3 minutes', async () => {
    readSweepRecord = async () => ({ behind: { leases: { since: START }, runs: { since: secondsAfterStart(60) } } });
    now = secondsAfterStart(179);
    assert.deepEqual(await status().warnAboutSweep(), []);
    now = secondsAfterStart(200);
    const [alert, ...others] = await status().warnAboutSweep();
    assert.deepEqual([alert?.level, alert?.at, others], ['warning', START, []]);
    assert.match(alert?.message ?? '', /"leases" has been behind since 2030-01-01T00:00:00/);
    readSweepRecord = () => Promise.reject(new Error('no Firestore'));
    assert.deepEqual(await status().warnAboutSweep(), []);
  });

  it("contains a warning before GitHub's rate limit is used up", () => {
    const left = (remaining: number) =>
      alertsOf({
        ...up,
        github: { ...reading(true), rateLimit: { limit: 5000, remaining, reset: secondsAfterStart(60) } },
      });
    assert.deepEqual(left(250), []);
    assert.match(
      left(249)[0]?.message ?? '',
      /only 249 more requests until 2030-01-01T00:01:00\.000Z; its limit is 5000/,
    );
  });
});
