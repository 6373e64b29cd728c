import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { KernelPorts } from '../../../functions/src/kernel/ports.ts';
import {
  CallRecorder,
  type EndedCall,
  FLUSH_MILLISECONDS,
  type Tally,
} from '../../../functions/src/limits/rules/callMetrics.ts';
import { portsOf } from '../../support/ports.ts';

const CALL: Omit<EndedCall, 'at'> = { tool: 'system.echo', outcome: 'OK', milliseconds: 3 };

class Stage {
  readonly stored: Tally[] = [];
  readonly warnings: string[] = [];
  now = 1_000_000;
  /** Additional behavior of the ledger. */
  adding: () => Promise<void> = async () => undefined;
  readonly recorder = new CallRecorder(
    {
      add: (tally) => {
        this.stored.push(tally);
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

  /** Number of stored calls. */
  get calls(): number {
    return this.stored.flatMap(({ minutes }) => minutes).reduce((sum, { all }) => sum + all.calls, 0);
  }
}

describe('CallRecorder', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  it('stores at most every five seconds, and only the call that stores waits', async () => {
    const stage = new Stage();
    assert.equal(stage.record(), undefined);
    stage.now += FLUSH_MILLISECONDS - 1;
    assert.equal(stage.record(), undefined);
    assert.equal(stage.calls, 0);
    stage.now += 1;
    await stage.record();
    assert.equal(stage.calls, 3);
    assert.equal(stage.record(), undefined);
    assert.equal(stage.stored.length, 1);
  });

  it('stores the remaining calls by a timer', async () => {
    const stage = new Stage();
    stage.record();
    mock.timers.tick(FLUSH_MILLISECONDS);
    await stage.recorder.flush();
    assert.equal(stage.calls, 1);
    mock.timers.tick(10 * FLUSH_MILLISECONDS);
    assert.equal(stage.stored.length, 1, 'nothing is stored without calls');
  });

  it('never fails without the ledger, and logs the loss', async () => {
    const stage = new Stage();
    stage.adding = () => Promise.reject(new Error('no database'));
    stage.record();
    await stage.recorder.flush();
    assert.deepEqual(stage.warnings, ['metrics_lost']);
  });

  it('delays one call by a second if the ledger is unreachable, and keeps counting', async () => {
    const stage = new Stage();
    let back = (): void => undefined;
    stage.adding = () =>
      new Promise((resolve) => {
        back = resolve;
      });
    stage.record();
    stage.now += FLUSH_MILLISECONDS;
    const waiting = stage.record();
    await Promise.resolve();
    mock.timers.tick(1000);
    await waiting;
    for (let seconds = 0; seconds < 60; seconds++) {
      stage.now += 1000;
      assert.equal(stage.record(), undefined);
    }
    assert.equal(stage.stored.length, 1);
    stage.adding = async () => undefined;
    back();
    await stage.recorder.flush();
    assert.equal(stage.stored.length, 2);
    assert.equal(stage.calls, 62);
  });
});
