import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { KernelPorts } from '../../../functions/src/kernel/ports.ts';
import {
  CallRecorder,
  type EndedCall,
  FLUSH_INTERVAL_MS,
  type Tally,
} from '../../../functions/src/limits/rules/callMetrics.ts';
import { portsOf } from '../../support/ports.ts';

const CALL: Omit<EndedCall, 'at'> = { tool: 'system.echo', outcome: 'OK', milliseconds: 3 };

class Stage {
  readonly stored: Tally[] = [];
  readonly dollars: number[] = [];
  readonly warnings: string[] = [];
  now = 1_000_000;
  /** Action that a test sets. The ledger runs this action before it stores calls. */
  adding: () => Promise<void> = async () => undefined;
  readonly recorder = new CallRecorder(
    {
      add: (tally) => {
        this.stored.push(tally);
        return this.adding();
      },
      addCost: (dollars) => {
        this.dollars.push(dollars);
        return this.adding();
      },
    },
    portsOf<KernelPorts>({
      clock: { now: () => new Date(this.now) },
      log: { info() {}, warn: (event) => this.warnings.push(event), error() {} },
    }),
  );

  record(): Promise<void> | undefined {
    return this.recorder.record({ ...CALL, at: new Date(this.now) });
  }

  /** Number of calls that the ledger has stored. */
  get calls(): number {
    return this.stored.flatMap(({ minutes }) => minutes).reduce((sum, { all }) => sum + all.calls, 0);
  }
}

describe('CallRecorder', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  it('stores calls at most every five seconds, and only the call that stores them waits', async () => {
    const fixture = new Stage();
    assert.equal(fixture.record(), undefined);
    fixture.now += FLUSH_INTERVAL_MS - 1;
    assert.equal(fixture.record(), undefined);
    assert.equal(fixture.calls, 0);
    fixture.now += 1;
    await fixture.record();
    assert.equal(fixture.calls, 3);
    assert.equal(fixture.record(), undefined);
    assert.equal(fixture.stored.length, 1);
  });

  it('stores the last calls by a timer', async () => {
    const fixture = new Stage();
    fixture.record();
    mock.timers.tick(FLUSH_INTERVAL_MS);
    await fixture.recorder.flush();
    assert.equal(fixture.calls, 1);
    mock.timers.tick(10 * FLUSH_INTERVAL_MS);
    assert.equal(fixture.stored.length, 1, 'nothing is stored without calls');
  });

  it('never fails if the ledger is unavailable, and logs how many calls were lost', async () => {
    const fixture = new Stage();
    fixture.adding = () => Promise.reject(new Error('no database'));
    fixture.record();
    await fixture.recorder.flush();
    assert.deepEqual(fixture.warnings, ['metrics_lost']);
  });

  it('delays only one call, by a second, if the ledger does not respond, and continues to count', async () => {
    const fixture = new Stage();
    let back = (): void => undefined;
    fixture.adding = () =>
      new Promise((resolve) => {
        back = resolve;
      });
    fixture.record();
    fixture.now += FLUSH_INTERVAL_MS;
    const waiting = fixture.record();
    await Promise.resolve();
    mock.timers.tick(1000);
    await waiting;
    for (let seconds = 0; seconds < 60; seconds++) {
      fixture.now += 1000;
      assert.equal(fixture.record(), undefined);
    }
    assert.equal(fixture.stored.length, 1);
    fixture.adding = async () => undefined;
    back();
    await fixture.recorder.flush();
    assert.equal(fixture.stored.length, 2);
    assert.equal(fixture.calls, 62);
  });

  it('adds costs at once, but no cost of zero, and never fails or waits longer than a second', async () => {
    const fixture = new Stage();
    for (const dollars of [0.5, 0, 0.25]) await fixture.recorder.recordCost(dollars);
    assert.deepEqual(fixture.dollars, [0.5, 0.25]);
    fixture.adding = () => Promise.reject(new Error('no database'));
    await fixture.recorder.recordCost(1);
    assert.deepEqual(fixture.warnings, ['metrics_lost']);
    fixture.adding = () => new Promise(() => undefined);
    const waiting = fixture.recorder.recordCost(1);
    mock.timers.tick(1000);
    await waiting;
  });
});
