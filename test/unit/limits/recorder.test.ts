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
  /** What the ledger does besides. */
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

  /** How many calls have been stored. */
  get calls(): number {
    return this.stored.flatMap(({ minutes }) => minutes).reduce((sum, { all }) => sum + all.calls, 0);
  }
}

describe('the recorder of calls', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  it('stores at most every five seconds, and has the call that finds it due wait', async () => {
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

  it('stores what no further call would, by its timer', async () => {
    const stage = new Stage();
    stage.record();
    mock.timers.tick(FLUSH_MILLISECONDS);
    await stage.recorder.flush();
    assert.equal(stage.calls, 1);
    mock.timers.tick(10 * FLUSH_MILLISECONDS);
    assert.equal(stage.stored.length, 1, 'and nothing where nothing was counted');
  });

  it('never fails for want of the ledger, and says so', async () => {
    const stage = new Stage();
    stage.adding = () => Promise.reject(new Error('no database'));
    stage.record();
    await stage.recorder.flush();
    assert.deepEqual(stage.warnings, ['metrics_lost']);
  });

  it('keeps one caller waiting for a ledger that is away, a second, and adds up meanwhile', async () => {
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
