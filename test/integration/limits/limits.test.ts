/** Rate limits across several instances of a deployment, with the real database. */
import assert from 'node:assert/strict';
import { type Composition, compose } from '../../../functions/src/composition/compose.ts';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import { limitPath, probeRealtimeDatabase, realtimeDatabase } from '../../../functions/src/kernel/realtime/database.ts';
import { DatabaseLimitLedger } from '../../../functions/src/limits/store/ledgers.ts';
import { eventually } from '../../e2e/support/waiting.ts';
import { externalServicesOf } from '../../support/externalServices.ts';
import { call } from '../coordination/calls.ts';
import { Team } from '../coordination/team.ts';

/** With this limit, an instance allows one call before it leases tokens. It leases at most ten tokens at a time. */
const LIMIT = { perSecond: 10, burst: 50 };

describe('rate limits', () => {
  let team: Team;
  let instances: readonly Composition[];

  // The first connection can take longer than a call waits for its rate limit.
  before(() => probeRealtimeDatabase(realtimeDatabase));

  beforeEach(() => {
    team = new Team();
    const clock = { now: () => team.now };
    instances = [0, 1].map(() => compose(externalServicesOf({ clock, rateLimit: LIMIT })));
  });

  /** Makes calls on the instances in turn, and returns how many calls the limit allowed. */
  const callTimes = async (count: number, principal: Principal): Promise<number> => {
    let passed = 0;
    for (let made = 0; made < count; made++) {
      const app = instances[made % 2] ?? team.app;
      const { structuredContent } = await call(team.at({ app }), 'coordination_get_master_plan', {}, principal);
      const refusal = String(structuredContent['error']);
      if (refusal.startsWith('Rate limit')) assert.match(refusal, /Retry in 1 second\.$/);
      else passed++;
    }
    return passed;
  };

  it('apply to each principal separately, across all instances', async () => {
    const ann = team.principal('ann');
    const passed = await callTimes(120, ann);
    assert.ok(passed >= LIMIT.burst && passed <= LIMIT.burst + 2, `${passed} calls were allowed at once`);
    assert.equal(await callTimes(5, team.principal('bob')), 5);
    team.pass(2);
    const later = await callTimes(60, ann);
    assert.ok(later >= 18 && later <= 20, `${later} calls were allowed two seconds later`);
  });

  it('allow every call of a caller that stays below the limit', async () => {
    for (let seconds = 0; seconds < 10; seconds++) {
      assert.equal(await callTimes(8, team.principal('ann')), 8);
      team.pass(1);
    }
  });

  it('ignore stored buckets that are malformed', async () => {
    const { uid } = team.principal('ann');
    const database = await realtimeDatabase();
    for (const broken of ['much', { tokens: 'many' }, { tokens: 3, at: { when: 1 } }, [1, 2]]) {
      await database.ref(limitPath(uid)).set(broken);
      const ledger = new DatabaseLimitLedger({ database: realtimeDatabase, clock: { now: () => team.now } });
      const { granted } = await ledger.lease(uid, LIMIT, { owed: 0, wanted: 5 });
      assert.equal(granted, 5);
    }
  });

  it('use separate buckets for principals whose uids have special characters', async () => {
    const ledger = new DatabaseLimitLedger({ database: realtimeDatabase, clock: { now: () => team.now } });
    const uids = ['a.b', 'a/b', 'a%2Eb', 'a#b', '[a]', '$a', 'ä', '\u{1f600}', 'a\u0001b'].map(
      (uid) => `${team.workspace}${uid}`,
    );
    for (const uid of uids)
      assert.equal((await ledger.lease(uid, LIMIT, { owed: 0, wanted: 99 })).granted, LIMIT.burst, uid);
  });

  it('allow calls while the database is unreachable, and charge nothing for late leases', async () => {
    const { uid } = team.principal('ann');
    const ledger = new DatabaseLimitLedger({ database: realtimeDatabase, clock: { now: () => team.now } });
    await ledger.lease(uid, LIMIT, { owed: 10, wanted: 0 });
    const database = await realtimeDatabase();
    database.goOffline();
    try {
      await assert.rejects(ledger.lease(uid, LIMIT, { owed: 10, wanted: 0 }), /did not respond/);
      await eventually('no lease is pending', async () => {
        const leasing = ledger.lease(uid, LIMIT, { owed: 10, wanted: 0 });
        const refusal = await leasing.catch((error: unknown) => String(error));
        return /not responded yet/.test(String(refusal)) || undefined;
      });
      assert.equal(await callTimes(200, team.principal('bob')), 200);
    } finally {
      database.goOnline();
    }
    await eventually('the ledger responds', () =>
      ledger.lease(uid, LIMIT, { owed: 10, wanted: 0 }).catch(() => undefined),
    );
    assert.equal((await database.ref(limitPath(uid)).get()).val().tokens, LIMIT.burst - 20);
  });

  it('still apply to other principals if the lease of one bucket gets no response', async () => {
    const [ann, bob] = [team.principal('ann').uid, team.principal('bob').uid];
    let isStuck = true;
    const database = () => (isStuck ? new Promise<never>(() => undefined) : realtimeDatabase());
    const ledger = new DatabaseLimitLedger({ database, clock: { now: () => team.now } });
    const stuck = ledger.lease(ann, LIMIT, { owed: 0, wanted: 1 });
    isStuck = false;
    await assert.rejects(stuck, /did not respond/);
    for (let n = 1; n <= 3; n++) assert.equal((await ledger.lease(bob, LIMIT, { owed: 0, wanted: n })).granted, n);
  });

  it('include a cleanup that deletes buckets that have been full for a day', async () => {
    const ledger = new DatabaseLimitLedger({ database: realtimeDatabase, clock: { now: () => team.now } });
    const [old, used] = [team.principal('old').uid, team.principal('used').uid];
    await ledger.lease(old, LIMIT, { owed: 0, wanted: 1 });
    team.pass(24 * 3600);
    await ledger.lease(used, LIMIT, { owed: 0, wanted: 1 });
    while ((await ledger.expire()) > 0);
    const database = await realtimeDatabase();
    assert.equal((await database.ref(limitPath(old)).get()).exists(), false);
    assert.equal((await database.ref(limitPath(used)).get()).exists(), true);
  });
});
