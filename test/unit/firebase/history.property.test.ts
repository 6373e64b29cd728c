/** The event log stays consistent while any number of instances watch the data, pause and crash. */
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import fc from 'fast-check';
import { canonicalJson } from '../../../functions/src/kernel/json.ts';
import { replay } from '../../../functions/src/toolsets/firebase/rules/page.ts';
import type { Entry, FirebasePorts } from '../../../functions/src/toolsets/firebase/rules/ports.ts';
import { Recorder } from '../../../functions/src/toolsets/firebase/rules/recorder.ts';
import { EVENT_TYPES, type EventType } from '../../../functions/src/toolsets/firebase/rules/subscription.ts';
import {
  apply,
  stateOf,
  storedData,
  type Transition,
} from '../../../functions/src/toolsets/firebase/rules/transition.ts';
import { defaultOrNightly } from '../../support/nightly.ts';
import { portsOf } from '../../support/ports.ts';
import { MemoryLog } from './memoryLog.ts';

type Command =
  | { readonly kind: 'write'; readonly key: string; readonly value: number | undefined }
  | { readonly kind: 'watch' }
  | { readonly kind: 'kill'; readonly which: number }
  | { readonly kind: 'standStill'; readonly which: number }
  | { readonly kind: 'pass' };

/** Number of runs per event type. */
const RUNS = defaultOrNightly(1000, { night: 2000 });
const key = fc.constantFrom('a', 'b', 'c');

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('write' as const),
      key,
      value: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'watch' as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('kill' as const), which: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('standStill' as const), which: fc.nat(5) }) },
  { weight: 3, arbitrary: fc.constant({ kind: 'pass' as const }) },
);

/** Watch of one instance. While the instance is paused, its watch reports no changes. */
interface Watching {
  readonly recorder: Recorder;
  isStill: boolean;
}

class World {
  readonly log: MemoryLog;
  readonly eventType: EventType;
  readonly data = new Map<string, number>();
  readonly watches: Watching[] = [];
  private writers = 0;
  /** Newest entry, after which the next watch continues, as in toolsets/firebase/rules/sharedWatch.ts. */
  private newest: Entry | undefined;

  constructor(eventType: EventType, scheduler: fc.Scheduler) {
    this.eventType = eventType;
    this.log = new MemoryLog(() => scheduler.schedule(Promise.resolve()));
    this.log.reader = (entry) => {
      if (entry.sequence > (this.newest?.sequence ?? 0)) this.newest = entry;
      for (const { recorder } of [...this.watches]) recorder.seen(entry);
    };
  }

  get there(): ReadonlyMap<string, number> {
    return this.eventType === 'value' ? asOneValue(this.data) : this.data;
  }

  async run(step: Command): Promise<void> {
    switch (step.kind) {
      case 'write':
        this.write(step.key, step.value);
        break;
      case 'watch':
        await this.watch();
        break;
      case 'kill': {
        const [killed] = this.watches.splice(step.which, 1);
        killed?.recorder.stop();
        break;
      }
      case 'standStill': {
        const watching = this.watches[step.which];
        if (watching !== undefined) watching.isStill = !watching.isStill;
        break;
      }
      case 'pass':
        break;
    }
  }

  async watch(): Promise<Recorder> {
    const loaded = await this.log.load();
    assert.ok(loaded);
    const recorder: Recorder = new Recorder(
      portsOf<FirebasePorts>({ events: this.log, clock: { now: () => new Date(0) } }),
      { log: 'log', eventType: this.eventType, writer: `writer-${this.writers++}` },
      replay(this.eventType, loaded),
      { replaced: () => this.forget(recorder), failed: (error) => assert.fail(String(error)) },
    );
    this.watches.push({ recorder, isStill: false });
    if (this.newest !== undefined) recorder.seen(this.newest);
    recorder.start(this.there);
    return recorder;
  }

  private write(at: string, value: number | undefined): void {
    if (value === undefined) this.data.delete(at);
    else this.data.set(at, value);
    const change = this.eventType === 'value' ? { key: '', data: this.there.get('') } : { key: at, data: value };
    for (const { recorder, isStill } of [...this.watches]) if (!isStill) recorder.changed([change]);
  }

  private forget(recorder: Recorder): void {
    const at = this.watches.findIndex((watching) => watching.recorder === recorder);
    if (at >= 0) this.watches.splice(at, 1);
  }
}

/** Returns all data as one number, so that a test can watch the data as a single value. */
function asOneValue(data: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const digits = [...'abc'].map((at) => String((data.get(at) ?? -1) + 1));
  return data.size === 0 ? new Map() : new Map([['', Number(digits.join(''))]]);
}

describe('event log of a watched path', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  for (const eventType of EVENT_TYPES)
    it(`contains one consistent history of ${eventType} for any behavior of its writers`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.scheduler(), fc.array(command, { maxLength: 25 }), async (scheduler, commands) => {
          const fixture = new World(eventType, scheduler);
          await fixture.log.create('log', stateOf(eventType, fixture.there));
          const steps = scheduler.scheduleSequence(
            commands.map((step) => ({
              label: step.kind,
              builder: async () => {
                // The result is not awaited, so that the following steps run concurrently.
                void fixture.run(step);
                mock.timers.tick(step.kind === 'pass' ? 100 : 1);
              },
            })),
          );
          await scheduler.waitFor(steps.task);
          await settle(fixture, scheduler);
          checkHistory(fixture);
        }),
        { numRuns: RUNS },
      );
    });
});

/** Stops all watches, and starts new ones until exactly one remains. */
async function settle(fixture: World, scheduler: fc.Scheduler): Promise<void> {
  for (const { recorder } of fixture.watches.splice(0)) recorder.stop();
  for (let isSettled = false; !isSettled; ) {
    const watching = fixture.watch();
    await scheduler.waitIdle();
    const recorder = await watching;
    await scheduler.waitIdle();
    isSettled = fixture.watches.some((one) => one.recorder === recorder);
  }
}

function checkHistory({ log, eventType, there }: World): void {
  const entries = log.from(1);
  const sequences = entries.map(({ sequence }) => sequence);
  const expected = entries.map((_entry, index) => index + 1);
  assert.deepEqual(sequences, expected, 'without a gap');
  const state = new Map(stateOf(eventType, new Map()));
  for (const transition of entries.flatMap(({ transitions }) => transitions)) {
    checkTransition(eventType, state, transition);
    apply(eventType, state, transition);
  }
  assert.deepEqual(sorted(state), sorted(stateOf(eventType, there)), 'the history ends in the current data');
}

/** Asserts that a transition starts from the state that the previous transition left. */
function checkTransition(eventType: EventType, state: Map<string, string>, transition: Transition): void {
  const { kind, key: at, data, previousData } = transition;
  const known = state.get(at);
  if (eventType !== 'value') assert.equal(known === undefined, kind === 'added', `${kind} ${at}`);
  if (previousData !== undefined) assert.equal(canonicalJson(previousData), known);
  if (kind === 'removed' && data !== undefined) assert.equal(storedData(eventType, data), known);
}

function sorted(state: ReadonlyMap<string, string>): readonly (readonly [string, string])[] {
  return [...state].sort(([one], [other]) => (one < other ? -1 : 1));
}
