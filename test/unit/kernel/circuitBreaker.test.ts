import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { CircuitBreaker } from '../../../functions/src/kernel/realtime/database.ts';

describe('patience with the Realtime Database', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  it('gives back what came in time, and what failed in time', async () => {
    const patience = new CircuitBreaker();
    assert.equal(await patience.waitFor(async () => 5), 5);
    await assert.rejects(
      patience.waitFor(async () => Promise.reject(new Error('refused'))),
      /refused/,
    );
    assert.equal(await patience.waitFor(async () => 6), 6, 'a failure is an answer');
  });

  it('ends after a second, then at once, and waits again when the answer has come', async () => {
    const patience = new CircuitBreaker();
    let answer = (): void => undefined;
    let late: AbortSignal | undefined;
    const lost = patience.waitFor((signal) => {
      late = signal;
      return new Promise<void>((resolve) => {
        answer = resolve;
      });
    });
    mock.timers.tick(999);
    assert.equal(late?.aborted, false);
    mock.timers.tick(1);
    await assert.rejects(lost, /did not answer/);
    assert.equal(late?.aborted, true);
    let started = 0;
    const start = async () => {
      started += 1;
    };
    await assert.rejects(patience.waitFor(start), /still not answered/);
    assert.equal(started, 0);
    answer();
    await new Promise((resolve) => setImmediate(resolve));
    await patience.waitFor(start);
    assert.equal(started, 1);
  });
});
