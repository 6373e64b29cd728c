import assert from 'node:assert/strict';
import type { TimeCursor } from '../../../functions/src/kernel/paging.ts';
import type { SweepState } from '../../../functions/src/kernel/sweep.ts';
import {
  expiryJob,
  type PresenceHealth,
  type SweepContext,
  type SweepJob,
  sweepPages,
} from '../../../functions/src/kernel/sweep.ts';
import type { SystemPorts } from '../../../functions/src/toolsets/system/rules/ports.ts';
import { RECOVERY_MS, sweep } from '../../../functions/src/toolsets/system/rules/sweeper.ts';
import { START } from '../../support/builders.ts';
import { portsOf } from '../../support/ports.ts';

const never = <T>() => new Promise<T>(() => undefined);

describe('sweep', () => {
  let now: Date;
  let state: SweepState;
  let check: () => Promise<void>;
  let entries: [event: string, fields: unknown][];
  let record: SystemPorts['sweepRecord'];

  beforeEach(() => {
    now = START;
    state = { behind: {} };
    check = async () => undefined;
    entries = [];
    record = {
      read: async () => state,
      saveOutage: async (outage) => {
        state = { behind: state.behind, ...(outage && { outage }) };
      },
      saveBehind: async (behind) => {
        state = { ...state, behind };
      },
    };
  });

  const run = (parts: readonly SweepJob[], turnMilliseconds = 1000) => {
    const note = (event: string, fields: unknown) => void entries.push([event, fields]);
    return sweep(
      parts,
      portsOf<SystemPorts>({
        presence: { check: () => check() },
        sweepRecord: record,
        clock: { now: () => now },
        log: { info: note, warn: note, error: note },
      }),
      { turnMilliseconds, timeoutMilliseconds: 20 },
    );
  };
  const pass = (milliseconds: number) => {
    now = new Date(now.getTime() + milliseconds);
  };
  const events = () => entries.map(([event]) => event);

  it('starts each part after the previous part has ended, even if the previous part failed', async () => {
    const started: string[] = [];
    let endLeases = (): void => assert.fail('the part has not started');
    const leases = new Promise<never>((_, reject) => {
      endLeases = () => reject(new Error('no database'));
    });
    const ended = { counts: {}, isBehind: false };
    const part = (name: string, work: () => Promise<typeof ended>): SweepJob => ({
      name,
      run: () => {
        started.push(name);
        return work();
      },
    });
    const running = run([
      part('leases', () => leases),
      { ...part('liveness', async () => ended), after: 'leases' },
      part('runs', async () => ended),
    ]);
    while (!started.includes('runs')) await new Promise(setImmediate);
    assert.deepEqual(started, ['leases', 'runs']);
    endLeases();
    await running;
    assert.deepEqual(started, ['leases', 'runs', 'liveness']);
  });

  it('runs each part even if other parts fail, and reports the parts that are behind', async () => {
    const error = new Error('no database');
    const parts = [
      expiryJob({ name: 'limits', expire: () => Promise.reject(error) }),
      expiryJob({ name: 'deliveries', expire: never }),
      expiryJob({ name: 'metrics', expire: async () => 0 }),
    ];
    assert.deepEqual(await run(parts, -4990), { limits: {}, deliveries: {}, metrics: { expired: 0 } });
    assert.deepEqual(events(), ['sweep_part_failed', 'sweep_part_failed', 'sweep_behind', 'swept']);
    assert.deepEqual(entries[0]?.[1], { part: 'limits', error });
    const since = START;
    assert.deepEqual(state.behind, { limits: { since }, deliveries: { since } });
  });

  it('deletes expired items until none is left or the time limit is reached', async () => {
    const left = [500, 500, 20, 0];
    const some = expiryJob({ name: 'commits', expire: async () => left.shift() ?? assert.fail('none is left') });
    assert.deepEqual(await run([some]), { commits: { expired: 1020 } });
    assert.deepEqual(state.behind, {});
    const endless = expiryJob({ name: 'commits', expire: async () => 500 });
    assert.deepEqual(await run([endless], -4000), { commits: { expired: 500 } });
    assert.deepEqual(Object.keys(state.behind), ['commits']);
  });

  it('records since when a part is behind, and deletes this record when the part is finished', async () => {
    let isBehind = true;
    const parts = [{ name: 'leases', run: async () => ({ counts: {}, isBehind }) }];
    await run(parts);
    pass(60_000);
    await run(parts);
    assert.deepEqual(state.behind['leases']?.since, START);
    isBehind = false;
    await run(parts);
    assert.deepEqual(state.behind, {});
  });

  it('continues after the last item of the previous run, and then starts again with the first', async () => {
    const all = [...'abcdefghijklmnopqrstuvwxy'];
    const due = all.map((id) => ({ at: START, id }));
    let stopBefore: string | undefined = 'j';
    let worked: string[] = [];
    const read = async (after: TimeCursor | undefined) => {
      const found = due.filter(({ id }) => after === undefined || id > after.id).slice(0, 15);
      const last = found.at(-1);
      return {
        found: found.map((place) => ({ item: place.id, place })),
        ...(found.length === 15 && last && { next: last }),
      };
    };
    const part: SweepJob = {
      name: 'leases',
      run: async (turn) => {
        const isOver = () => stopBefore !== undefined && worked.at(-1) === stopBefore;
        const end = await sweepPages({ ...turn, isOver }, read, async (id) => void worked.push(id));
        return { ...end, counts: { worked: worked.length } };
      },
    };
    await run([part]);
    assert.deepEqual(worked, [...'abcdefghij'], 'the time limit is checked after every ten items');
    [worked, stopBefore] = [[], undefined];
    await run([part]);
    assert.deepEqual([worked, state.behind], [[...'klmnopqrstuvwxy'], {}]);
    worked = [];
    await run([part]);
    assert.deepEqual(worked, all);
  });

  it('continues after items that cannot be read or cleaned up', async () => {
    const places = [0, 1, 2].map((n) => ({ at: START, id: String(n) }));
    const read = async (after: TimeCursor | undefined) => {
      const at = after === undefined ? 0 : Number(after.id) + 1;
      const place = places[at];
      if (place === undefined) return { found: [] };
      return { found: at === 1 ? [] : [{ item: place.id, place }], next: place };
    };
    const worked: string[] = [];
    const turn: SweepContext = {
      now,
      from: undefined,
      presence: Promise.resolve<PresenceHealth>('trusted'),
      isOver: () => false,
    };
    assert.deepEqual(await sweepPages(turn, read, async (id) => void worked.push(id)), { isBehind: false });
    assert.deepEqual(worked, ['0', '2']);
  });

  describe('presence data', () => {
    let standings: PresenceHealth[];
    const part: SweepJob = {
      name: 'leases',
      run: async ({ presence }) => {
        standings.push(await presence);
        return { counts: {}, isBehind: false };
      },
    };
    beforeEach(() => {
      standings = [];
    });

    it('is reliable and causes no record if the Realtime Database is available', async () => {
      record.saveOutage = () => assert.fail('there is nothing to save');
      record.saveBehind = () => assert.fail('there is nothing to save');
      await run([part]);
      assert.deepEqual(standings, ['trusted']);
    });

    it('is unreliable during an outage and for 5 minutes afterwards', async () => {
      check = never;
      await run([part]);
      pass(60_000);
      await run([part]);
      check = async () => undefined;
      for (let minute = 0; minute < 6; minute++) {
        pass(60_000);
        await run([part]);
      }
      assert.deepEqual(standings, ['away', 'away', 'back', 'back', 'back', 'back', 'back', 'trusted']);
      assert.deepEqual(state.outage, undefined);
      const reported = events().filter((event) => event.startsWith('presence'));
      assert.deepEqual(reported, ['presence_away', 'presence_away', 'presence_back']);
    });

    it('is unreliable for 5 minutes after the latest of several outages', async () => {
      check = never;
      await run([part]);
      check = async () => undefined;
      await run([part]);
      pass(RECOVERY_MS - 1);
      check = () => Promise.reject(new Error('no writes'));
      await run([part]);
      check = async () => undefined;
      await run([part]);
      pass(RECOVERY_MS - 1);
      await run([part]);
      pass(1);
      await run([part]);
      assert.deepEqual(standings, ['away', 'back', 'away', 'back', 'back', 'trusted']);
    });

    it('is unreliable if the record of outages cannot be read', async () => {
      record.read = () => Promise.reject(new Error('no Firestore'));
      await run([part]);
      assert.deepEqual(standings, ['back']);
    });
  });
});
