/** The sweep while the Realtime Database is unreachable, and after it is reachable again. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type App, deleteApp, initializeApp } from 'firebase-admin/app';
import { type Database, getDatabase } from 'firebase-admin/database';
import { DatabasePresence } from '../../../functions/src/agents/store/presence.ts';
import { withTimeout } from '../../../functions/src/kernel/concurrency.ts';
import { firebaseApp } from '../../../functions/src/kernel/realtime/database.ts';
import { Team } from './team.ts';

describe('the sweep without the Realtime Database', () => {
  const apps: App[] = [];
  let team: Team;
  let ann: string;
  let expired: string;

  /** Opens a dedicated connection to the Realtime Database, so that only this connection goes offline. */
  function connected(options: object = {}): { presence: DatabasePresence; database: Database } {
    const app = initializeApp({ ...firebaseApp().options, ...options }, `sweep-${randomUUID()}`);
    apps.push(app);
    const database = getDatabase(app);
    return {
      presence: new DatabasePresence({ database: async () => database, clock: { now: () => team.now } }),
      database,
    };
  }

  /** Runs a sweep that waits at most `timeoutMilliseconds` for presence. */
  const sweep = (presence: DatabasePresence, timeoutMilliseconds = 500) =>
    withTimeout(
      team.sweep({ system: { ports: { ...team.app.system.ports, presence } } }, timeoutMilliseconds),
      10_000,
      'The sweep',
    );

  const statusOf = async (taskId: string) => (await team.task(taskId)).status;
  const agent = async (agentId: string) => (await team.app.access.ports.agents.find(agentId))?.value;

  beforeEach(async () => {
    team = new Team();
    ann = await team.join('ann');
    ({ id: expired } = await team.createOne());
    assert.equal(await team.claim(ann, 600), expired);
    await team.app.access.ports.presence.touch(ann);
  });
  after(() => Promise.all(apps.map(deleteApp)));

  it('ends the delays of retries, but postpones the checks of leases and presence', async () => {
    const bob = await team.join('bob');
    const waiting = await team.createOne();
    assert.equal(await team.claim(bob, 6000), waiting.id);
    await team.fail(bob, waiting.id, true);
    team.pass(601);
    const { presence, database } = connected();
    database.goOffline();
    await sweep(presence);
    assert.equal(await team.claim(bob), waiting.id, 'its delay before the retry has ended');
    assert.deepEqual([await statusOf(expired), (await agent(ann))?.status], ['claimed', 'active']);
    const { outage, behind } = await team.sweepRecord.read();
    assert.deepEqual(outage, { since: team.now });
    assert.deepEqual([behind['leases']?.since, behind['liveness']?.since], [team.now, team.now]);
    assert.equal(behind['backoffs'], undefined);
  });

  it('marks no agent offline until 5 minutes after the database is reachable again', async () => {
    const bob = await team.join('bob');
    const bobs = await team.createOne();
    assert.equal(await team.claim(bob, 600), bobs.id);
    team.pass(601);
    const { presence, database } = connected();
    database.goOffline();
    await sweep(presence);
    for (let seconds = 0; seconds < 300; seconds += 60) {
      team.pass(60);
      if (seconds === 120) await team.app.access.ports.presence.touch(bob);
      await team.sweep(team.anotherInstance());
      assert.deepEqual([await statusOf(expired), (await agent(ann))?.status], ['claimed', 'active']);
    }
    assert.ok(
      ((await team.task(bobs.id)).claim?.lease_expires_at ?? team.now) > team.now,
      'the lease of a holder that was seen is renewed',
    );
    team.pass(60);
    await team.sweep(team.anotherInstance());
    assert.deepEqual([await statusOf(expired), (await agent(ann))?.status], ['available', 'offline']);
    assert.deepEqual(await team.sweepRecord.read(), { behind: {} });
  });

  it('treats presence as unreachable if it can be read but not written', async () => {
    // Simulates a database that serves reads and refuses every write.
    const { presence } = connected();
    const refuse = () => Promise.reject(new Error('PERMISSION_DENIED'));
    Object.assign(presence, { touch: refuse, forget: refuse, check: refuse });
    team.pass(601);
    await presence.lastSeen([ann]);
    await sweep(presence, 5000);
    assert.equal(await statusOf(expired), 'claimed');
    assert.deepEqual((await team.sweepRecord.read()).outage, { since: team.now });
  });
});
