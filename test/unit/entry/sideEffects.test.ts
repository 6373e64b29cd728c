/** Loading the functions changes nothing of the process but what an HTTP function needs, and that once. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { root } from '../../../scripts/project.mjs';

/** Prints what loading the functions has changed: subscriptions, listeners, variables, what keeps running. */
const PROGRAM = `
import channels from 'node:diagnostics_channel';
import { syncBuiltinESMExports } from 'node:module';
const { subscribe } = channels;
const subscribed = [];
channels.subscribe = (name, listener) => (subscribed.push(name), subscribe(name, listener));
syncBuiltinESMExports();
const listening = () => process.eventNames().map((name) => [String(name), process.listenerCount(name)]);
const before = JSON.stringify([listening(), process.env]);
await import('${root}/functions/src/index.ts');
const active = process.getActiveResourcesInfo().filter((one) => !/^(?:TTYWrap|PipeWrap|CloseReq)$/.test(one));
const after = JSON.stringify([listening(), { ...process.env, NODE_ENV: undefined }]);
console.log(JSON.stringify({ subscribed, changed: before !== after, mode: process.env.NODE_ENV ?? '', active }));
`;

function loadedFor(target: string): unknown {
  const { NODE_ENV: _, ...env } = process.env;
  const printed = execFileSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', PROGRAM],
    { cwd: root, env: { ...env, FUNCTION_TARGET: target }, encoding: 'utf8' },
  );
  return JSON.parse(printed);
}

const NOTHING = { subscribed: [], changed: false, mode: '', active: [] };
const ONCE = { ...NOTHING, subscribed: ['http.server.request.start'], mode: 'production' };

describe('loading the functions', function () {
  this.timeout(120_000); // all of them are loaded each time

  it('follows the requests of an endpoint once', () => {
    assert.deepEqual(loadedFor('mcp'), ONCE);
    assert.deepEqual(loadedFor('githubWebhook'), ONCE);
  });

  it('has no effect for the others', () => {
    assert.deepEqual(loadedFor('sweep'), NOTHING);
  });
});
