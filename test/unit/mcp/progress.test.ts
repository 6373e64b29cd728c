import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { deferred } from '../../../functions/src/kernel/concurrency.ts';
import { ProgressReport } from '../../../functions/src/mcp/call.ts';
import type { Notification } from '../../../functions/src/mcp/callContext.ts';
import { entries } from '../../contract/catalog.ts';

describe('progress notifications of a call', () => {
  let sent: Notification[] = [];
  const report = () => new ProgressReport((notification) => sent.push(notification), 'token');
  const numbers = () => sent.map(({ params }) => Number(params['progress']));

  beforeEach(() => {
    sent = [];
    mock.timers.enable({ apis: ['setInterval'] });
  });

  afterEach(() => mock.timers.reset());

  it('are sent every five seconds during a wait, if the client sent a progress token', async () => {
    const { during } = report();
    const end = deferred();
    const wait = during(end.promise.then(() => 'answer'));
    for (let second = 0; second < 24; second++) mock.timers.tick(1000);
    assert.equal(sent.length, 4);
    assert.deepEqual(new Set(sent.map(({ method }) => method)), new Set(['notifications/progress']));
    assert.deepEqual(new Set(sent.map(({ params }) => params['progressToken'])), new Set(['token']));
    end.resolve();
    assert.equal(await wait, 'answer');
    mock.timers.tick(60_000);
    assert.equal(sent.length, 4);
  });

  it('end when the wait fails', async () => {
    const wait = report().during(Promise.reject(new Error('gone')));
    await assert.rejects(wait, /gone/);
    mock.timers.tick(60_000);
    assert.deepEqual(sent, []);
  });

  it('have increasing numbers, and include the steps that the tool reports', () => {
    const { during, send } = report();
    void during(new Promise(() => undefined));
    mock.timers.tick(5_000);
    for (const progress of [0, 1, 1, 3]) {
      send({ progress, message: 'A step.' });
      mock.timers.tick(5_000);
    }
    assert.ok(numbers().every((number, index, all) => index === 0 || number > Number(all[index - 1])));
    assert.deepEqual(numbers().map(Math.floor), [0, 0, 0, 1, 1, 1, 1, 3, 3]);
  });

  it('are supported by every tool that waits', () => {
    const waits = entries.filter(({ input }) => /"wait_?(ms|seconds)"/i.test(JSON.stringify(input)));
    assert.ok(waits.length >= 5);
    const silent = waits.filter(({ tool }) => tool.notifies === undefined);
    const names = silent.map(({ tool }) => tool.name);
    assert.deepEqual(names, []);
  });
});
