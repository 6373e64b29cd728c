import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { CircuitBreaker } from '../../../functions/src/kernel/realtime/database.ts';

describe('CircuitBreaker', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  it('returns results and throws errors that arrive in time', async () => {
    const breaker = new CircuitBreaker();
    assert.equal(await breaker.waitFor(async () => 5), 5);
    await assert.rejects(
      breaker.waitFor(async () => Promise.reject(new Error('refused'))),
      /refused/,
    );
    assert.equal(await breaker.waitFor(async () => 6), 6, 'a failure counts as a response');
  });

  it('fails a call after a second, and later calls immediately until the late response arrives', async () => {
    const breaker = new CircuitBreaker();
    let answer = (): void => undefined;
    const promise = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const lost = breaker.waitFor(() => promise);
    mock.timers.tick(999);
    assert.equal(await Promise.race([lost, 'waiting']), 'waiting');
    mock.timers.tick(1);
    await assert.rejects(lost, /did not respond/);
    let started = 0;
    const start = async () => {
      started += 1;
    };
    await assert.rejects(breaker.waitFor(start), /not responded yet/);
    assert.equal(started, 0);
    answer();
    await new Promise((resolve) => setImmediate(resolve));
    await breaker.waitFor(start);
    assert.equal(started, 1);
  });
});
