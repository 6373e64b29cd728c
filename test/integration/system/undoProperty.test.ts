/** Undo of random calls that an agent made during an hour: it restores the state and all counts. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import '../../support/properties.ts';
import { recount } from '../lostResponses/recount.ts';
import { moves, requireAsBefore, UndoFixture } from './undoFixture.ts';

const RUNS = 12;

describe("undo of an agent's calls", function () {
  this.timeout('4m');

  it('restores the state from before the calls, for random calls', async () => {
    const seen = { undone: 0, refused: [] as string[] };
    const takenBack = fc.asyncProperty(moves, async (all) => {
      const fixture = await UndoFixture.open();
      const before = await fixture.state();
      const since = fixture.accessFixture.now.toISOString();
      for (const move of all) await fixture.perform(move);
      const args = { agent_id: fixture.agentId, since };
      const { undone, refused, more } = Object(await fixture.ask('system_undo', args));
      assert.equal(more, false);
      const stays = new Map<string, string>(refused.map(({ id, why }: JsonObject) => [id, why]));
      seen.undone += undone.length;
      seen.refused.push(...stays.values());
      requireAsBefore(before, await fixture.state(), new Set(stays.keys()));
      assert.deepEqual(await recount(fixture.accessFixture), []);
      const again = Object(await fixture.ask('system_undo', args));
      assert.deepEqual([again.events, again.undone], [[], []]);
    });
    await fc.assert(takenBack, { numRuns: RUNS, endOnFailure: true });
    assert.ok(seen.undone > seen.refused.length, JSON.stringify(seen));
  });

  it('can be applied and reverted call by call, between other calls', async () => {
    const seen = { undone: 0, redone: 0, refused: [] as string[] };
    const eventByEvent = fc.asyncProperty(moves, async (all) => {
      const fixture = await UndoFixture.open();
      const [beginning, since] = [await fixture.state(), fixture.accessFixture.now.toISOString()];
      let isRedone = false;
      for (const move of all) isRedone = (await fixture.performAndUndo(move, seen)) === 'redone' || isRedone;
      const args = { agent_id: fixture.agentId, since };
      const { refused } = Object(await fixture.ask('system_undo', args));
      const stays = new Set<string>(refused.map(({ id }: JsonObject) => id));
      // A change that was redone can be undone again only through the event of its undo.
      if (!isRedone) requireAsBefore(beginning, await fixture.state(), stays);
      assert.deepEqual(await recount(fixture.accessFixture), []);
    });
    await fc.assert(eventByEvent, { numRuns: RUNS / 2, endOnFailure: true });
    assert.ok(seen.undone > seen.refused.length && seen.redone > 0, JSON.stringify(seen));
  });

  it('cancels the tasks that a run created, except tasks that were claimed or changed since', async () => {
    const ofARun = fc.asyncProperty(moves, async (all) => {
      const fixture = await UndoFixture.open();
      const runId = `run-${fixture.accessFixture.workspace}`;
      const before = await fixture.state();
      const created = await fixture.createAsRun(runId);
      for (const move of all) await fixture.perform(move);
      const between = await fixture.state();
      const { undone, refused, events } = Object(await fixture.ask('system_undo', { run_id: runId }));
      const missing = undone.map(({ id }: JsonObject) => String(id));
      const left = refused.map(({ id }: JsonObject) => String(id));
      assert.deepEqual([...missing, ...left].sort(), [...created].sort());
      const after = await fixture.state();
      for (const id of missing) assert.equal(Object(after.get(id)).status, 'failed', id);
      for (const id of left) assert.deepEqual(after.get(id), between.get(id), id);
      for (const id of before.keys()) assert.equal(Object(after.get(id)).status, Object(between.get(id)).status, id);
      assert.deepEqual(await recount(fixture.accessFixture), []);
      assert.equal(events.length, missing.length > 0 ? 1 : 0);
    });
    await fc.assert(ofARun, { numRuns: RUNS, endOnFailure: true });
  });
});
