import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { JsonValue } from '../../../functions/src/kernel/json.ts';
import {
  canTakeLease,
  MAX_ENTRY_TRANSITIONS,
  outdated,
  Pending,
} from '../../../functions/src/toolsets/firebase/rules/eventLog.ts';
import { PageBuilder } from '../../../functions/src/toolsets/firebase/rules/page.ts';
import type { Entry, EntrySize } from '../../../functions/src/toolsets/firebase/rules/ports.ts';
import type { Subscription } from '../../../functions/src/toolsets/firebase/rules/subscription.ts';
import { cursorOf, EVENT_TYPES, positionAt } from '../../../functions/src/toolsets/firebase/rules/subscription.ts';
import {
  apply,
  differences,
  stateOf,
  type Transition,
  transitionOf,
} from '../../../functions/src/toolsets/firebase/rules/transition.ts';
import { forAll, inRuns } from '../../support/properties.ts';

/** Maximum number of events in a log. */
const MAX_LOG_ENTRIES = 1000;
const LOG = 'abcdefghijklmnopqrst';
const eventType = fc.constantFrom(...EVENT_TYPES);
const key = fc.constantFrom('a', 'b', 'c', 'd', '__proto__', '0');
const json = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<JsonValue>;
const data = fc.array(fc.tuple(key, json), { maxLength: 6 }).map((entries) => new Map(entries));

const transition: fc.Arbitrary<Transition> = fc.record(
  { kind: fc.constantFrom('added', 'changed', 'removed'), key, data: json, previousData: json, at: fc.nat() },
  { requiredKeys: ['kind', 'key', 'at'] },
);

describe('transitions of a watched path', () => {
  it('lead from the last known data to the current data', () =>
    forAll(eventType, data, data, (type, before, after) => {
      const [known, there] = type === 'value' ? [whole(before), whole(after)] : [before, after];
      const state = stateOf(type, known);
      for (const one of differences(type, state, there, 0)) apply(type, state, one);
      assert.deepEqual(new Map(state), stateOf(type, there));
      assert.deepEqual(differences(type, state, there, 0), [], 'no differences remain');
    }));

  it('are empty if only the order of the keys has changed', () => {
    const state = stateOf('child_changed', new Map([['k', { a: 1, b: { c: 2, d: 3 } }]]));
    const same = { key: 'k', data: { b: { d: 3, c: 2 }, a: 1 } };
    assert.equal(transitionOf('child_changed', state, same, 0), undefined);
  });

  it('contain the previous data, unless that data is too large', () => {
    const large = 'x'.repeat(200_000);
    const state = stateOf('value', new Map([['', large]]));
    const changed = transitionOf('value', state, { key: '', data: `${large}y` }, 0);
    assert.equal(changed?.data, `${large}y`);
    assert.equal(changed?.previousData, undefined);
  });
});

describe('transitions that are not yet stored', () => {
  it('keep additions and removals, but combine several changes of one key', () =>
    forAll(fc.array(transition, { maxLength: 40 }), (transitions) => {
      const pending = new Pending();
      for (const one of transitions) pending.add(one);
      const taken = pending.take();
      assert.equal(pending.size, 0);
      for (const at of new Set(transitions.map((one) => one.key))) {
        const ofKey = (one: Transition): boolean => one.key === at;
        assert.deepEqual(taken.filter(ofKey), coalesced(transitions.filter(ofKey)));
      }
    }));

  it('are divided in order into entries of limited size', () =>
    inRuns(20).forAll(fc.integer({ min: 1, max: 350 }), fc.integer({ min: 1, max: 20_000 }), (count, size) => {
      const pending = new Pending();
      for (let at = 0; at < count; at++) pending.add({ kind: 'added', key: String(at), data: 'x'.repeat(size), at });
      const entries: (readonly Transition[])[] = [];
      while (pending.size > 0) entries.push(pending.take());
      assert.ok(entries.every((entry) => entry.length <= MAX_ENTRY_TRANSITIONS));
      assert.ok(entries.every((entry) => entry.length === 1 || JSON.stringify(entry).length < 270_000));
      const times = entries.flat().map(({ at }) => at);
      const expected = Array.from({ length: count }, (_unused, at) => at);
      assert.deepEqual(times, expected);
    }));
});

describe('cursor of a subscription', () => {
  it('keeps its contents when it is encoded and decoded', () =>
    forAll(fc.integer({ min: 1, max: 9_999_999_999 }), fc.nat(9999), (sequence, index) => {
      const position = { log: LOG, sequence, index };
      assert.deepEqual(positionAt(cursorOf(position)), position);
    }));

  it('is rejected if the server has not created it', () =>
    forAll(fc.string(), (text) => {
      try {
        assert.equal(cursorOf(positionAt(text)), text);
      } catch (error) {
        assert.match(String(error), /Invalid cursor for this subscription/);
      }
    }));
});

describe('reading a subscription page by page', () => {
  const subscription: Subscription = {
    id: 'id',
    uid: 'ada',
    subscription_id: 'sub',
    database: 'realtime',
    path: 'messages',
    event_type: 'child_added',
    log: LOG,
    created_at: new Date(0),
    expires_at: new Date(0),
    rights: '',
  };

  it('returns each event once and in order, from any cursor', () =>
    inRuns(50).forAll(fc.array(fc.array(transition, { minLength: 1, maxLength: 60 }), { maxLength: 12 }), (lists) => {
      const entries = lists.map((transitions, index): Entry => ({ sequence: index + 1, writer: 'w', transitions }));
      const all = readFrom(subscription, entries, cursorOf({ log: LOG, sequence: 1, index: 0 }));
      const added = lists.flat().filter(({ kind }) => kind === 'added');
      const keys = all.map(({ event }) => event.key);
      const expected = added.map((one) => one.key);
      assert.deepEqual(keys, expected);
      assert.equal(new Set(all.map(({ cursor }) => cursor)).size, all.length);
      for (const [index, { cursor }] of all.entries())
        if (index % 7 === 0) assert.deepEqual(readFrom(subscription, entries, cursor), all.slice(index + 1));
    }));

  it('reports that events are missing if entries were deleted', () => {
    const builder = new PageBuilder(subscription, { log: LOG, sequence: 2, index: 3 });
    builder.add({ sequence: 4, writer: 'w', transitions: [{ kind: 'added', key: 'k', data: 1, at: 0 }] });
    const { events, overflow } = builder.page();
    assert.equal(events.length, 1);
    assert.equal(overflow, true);
  });
});

describe('retention of an event log', () => {
  const size = fc.record({
    transitions: fc.integer({ min: 1, max: MAX_ENTRY_TRANSITIONS }),
    bytes: fc.integer({ min: 10, max: 300_000 }),
    at: fc.integer({ min: 0, max: 2 * 86_400_000 }),
  });

  it('deletes the oldest entries before the last checkpoint, but only as many as necessary', () =>
    forAll(fc.array(size, { maxLength: 40 }), fc.nat(40), (sizes, covered) => {
      const ordered = sizes.toSorted((one, other) => one.at - other.at);
      const entries = ordered.map(
        (one, index): EntrySize => ({ ...one, sequence: index + 1, events: one.transitions }),
      );
      const now = new Date(2 * 86_400_000);
      const dropped = outdated(entries, covered, now);
      const expected = entries.slice(0, dropped.length).map(({ sequence }) => sequence);
      assert.deepEqual(dropped, expected);
      assert.ok(dropped.every((sequence) => sequence <= covered));
      const kept = entries.slice(dropped.length);
      if (kept[0] !== undefined && kept[0].sequence <= covered) {
        const sum = (of: (entry: EntrySize) => number): number => kept.reduce((all, one) => all + of(one), 0);
        assert.ok(sum(({ events }) => events) <= MAX_LOG_ENTRIES - MAX_ENTRY_TRANSITIONS);
        assert.ok(sum(({ bytes }) => bytes) <= 4 * 1_048_576);
        assert.ok(now.getTime() - kept[0].at <= 86_400_000);
      }
    }));
});

describe('lease of an instance that watches a path', () => {
  const now = new Date(100_000);
  const lease = { holder: 'one', reading: true, renewed: new Date(90_000) };
  for (const [what, held, expected] of [
    ['free', undefined, true],
    ['held by that instance', { ...lease, holder: 'me' }, true],
    ['held by another instance', lease, false],
    ['released', { ...lease, reading: false }, true],
    ['expired', { ...lease, renewed: new Date(84_000) }, true],
  ] as const)
    it(`may ${expected ? '' : 'not '}be acquired by an instance if it is ${what}`, () =>
      assert.equal(canTakeLease(held, 'me', now), expected));
});

function whole(map: ReadonlyMap<string, JsonValue>): Map<string, JsonValue> {
  return map.size === 0 ? new Map() : new Map([['', Object.fromEntries(map)]]);
}

/** Combines adjacent changes of the same key. */
function coalesced(transitions: readonly Transition[]): readonly Transition[] {
  const all: Transition[] = [];
  for (const one of transitions) {
    const last = all.at(-1);
    if (last?.kind !== 'changed' || one.kind !== 'changed') {
      all.push(one);
      continue;
    }
    const { previousData: _between, ...now } = one;
    all[all.length - 1] = last.previousData === undefined ? now : { ...now, previousData: last.previousData };
  }
  return all;
}

/** Returns the events of all pages, read one after another. */
function readFrom(subscription: Subscription, entries: readonly Entry[], cursor: string) {
  const all = [];
  for (let position = positionAt(cursor); ; ) {
    const builder = new PageBuilder(subscription, position);
    for (const entry of entries) builder.add(entry);
    const page = builder.page();
    assert.equal(page.overflow, false);
    assert.ok(page.events.length <= 100);
    all.push(...page.events);
    if (!builder.isFull) return all;
    position = page.position;
  }
}
