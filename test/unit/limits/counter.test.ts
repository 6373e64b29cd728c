import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  bucketOf,
  CallCounter,
  type EndedCall,
  type RecordedCounts,
  type Tally,
} from '../../../functions/src/limits/rules/callMetrics.ts';
import { forAll } from '../../support/properties.ts';

const START = Date.UTC(2026, 10, 22, 1, 24);

const call: fc.Arbitrary<EndedCall> = fc
  .record({
    tool: fc.constantFrom('firebase.read', 'coordination.claim_task', 'coordination://status'),
    agentId: fc.constantFrom('ann', 'bob', undefined),
    outcome: fc.constantFrom('OK' as const, 'NOT_FOUND' as const, 'RATE_LIMITED' as const),
    milliseconds: fc.nat(50_000),
    at: fc.nat(200_000).map((after) => new Date(START + after)),
  })
  .map(({ agentId, ...rest }) => ({ ...rest, ...(agentId !== undefined && { agentId }) }));

function countsOf(calls: readonly EndedCall[]): RecordedCounts {
  const failures = calls.filter(({ outcome }) => outcome !== 'OK');
  return {
    calls: calls.length,
    failures: failures.length,
    milliseconds: calls.reduce((sum, { milliseconds }) => sum + milliseconds, 0),
    errors: sizes(groups(failures, ({ outcome }) => outcome)),
    latencies: sizes(groups(calls, ({ milliseconds }) => bucketOf(milliseconds))),
  };
}

function groups<Key>(calls: readonly EndedCall[], keyOf: (call: EndedCall) => Key): Map<Key, EndedCall[]> {
  const found = new Map<Key, EndedCall[]>();
  for (const one of calls) found.set(keyOf(one), [...(found.get(keyOf(one)) ?? []), one]);
  return found;
}

const sizes = <Key>(all: Map<Key, EndedCall[]>) => new Map([...all].map(([key, those]) => [key, those.length]));

/** Returns the expected totals, computed in the simplest way. */
function tallyOf(calls: readonly EndedCall[]): Tally {
  const byMinute = groups(calls, ({ at }) => at.toISOString().slice(0, 16));
  const agents = groups(calls, ({ agentId }) => agentId);
  agents.delete(undefined);
  return {
    minutes: [...byMinute].map(([minute, ofMinute]) => ({
      minute: new Date(`${minute}:00Z`),
      all: countsOf(ofMinute),
      tools: new Map([...groups(ofMinute, ({ tool }) => tool)].map(([tool, own]) => [tool, countsOf(own)])),
    })),
    agents: new Map(
      [...agents].map(([agentId, own]) => [
        String(agentId),
        { ...countsOf(own), since: own[0]?.at ?? new Date(Number.NaN) },
      ]),
    ),
  };
}

describe('CallCounter', () => {
  it('adds up calls by minute, tool, agent and error, and starts at zero after it was emptied', () =>
    forAll(fc.array(call), fc.array(call), (first, second) => {
      const counter = new CallCounter();
      for (const calls of [first, second]) {
        for (const one of calls) counter.add(one);
        assert.equal(counter.isEmpty, calls.length === 0);
        assert.deepEqual(counter.empty(), tallyOf(calls));
        assert.equal(counter.isEmpty, true);
      }
    }));

  it('stores a limited number of entries until they are written', () => {
    const counter = new CallCounter();
    for (let number = 0; number < 20_000; number++)
      counter.add({ tool: 't', agentId: `agent-${number}`, outcome: 'OK', milliseconds: 1, at: new Date(START) });
    const { minutes, agents } = counter.empty();
    assert.ok(agents.size < 5000);
    assert.equal(minutes[0]?.all.calls, 20_000, 'existing entries are still counted');
  });
});
