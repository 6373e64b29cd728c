/** Importing the functions changes the state of the process only if an HTTP function is imported, and only once. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { root } from '../../../scripts/project.mjs';

/**
 * Imports the functions for a target and prints the effects: subscriptions, listeners, variables and active handles.
 * Then imports the HTTP functions for a second target in the same process and prints the effects again.
 */
const PROGRAM = `
import channels from 'node:diagnostics_channel';
import { syncBuiltinESMExports } from 'node:module';
const { subscribe } = channels;
let subscribed = [];
channels.subscribe = (name, listener) => (subscribed.push(name), subscribe(name, listener));
syncBuiltinESMExports();
const listening = () => process.eventNames().map((name) => [String(name), process.listenerCount(name)]);
const changedBy = async (target, module) => {
  subscribed = [];
  delete process.env.NODE_ENV;
  process.env.FUNCTION_TARGET = target;
  const before = JSON.stringify([listening(), process.env]);
  await import('${root}/functions/src/' + module);
  const active = process.getActiveResourcesInfo().filter((one) => !/^(?:TTYWrap|PipeWrap|CloseReq)$/.test(one));
  const after = JSON.stringify([listening(), { ...process.env, NODE_ENV: undefined }]);
  return { subscribed, changed: before !== after, mode: process.env.NODE_ENV ?? '', active };
};
const [, first, second] = process.argv;
const all = await changedBy(first, 'index.ts');
const http = second && (await changedBy(second, 'entry/http.ts?' + second));
console.log(JSON.stringify([all, http].filter(Boolean)));
`;

/** @param targets all functions are imported for the first target, only the HTTP functions for the second */
async function loadedFor(...targets: readonly string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', PROGRAM, '--', ...targets],
    { cwd: root, env: process.env, encoding: 'utf8' },
  );
  return JSON.parse(stdout);
}

const NOTHING = { subscribed: [], changed: false, mode: '', active: [] };
const ONCE = { ...NOTHING, subscribed: ['http.server.request.start'], mode: 'production' };

describe('importing the functions', function () {
  this.timeout(120_000); // Importing all functions is slow.

  it('starts tracking requests once for an endpoint, and changes nothing for other functions', async () => {
    const loaded = await Promise.all([loadedFor('mcp', 'githubWebhook'), loadedFor('sweep')]);
    assert.deepEqual(loaded, [[ONCE, ONCE], [NOTHING]]);
  });
});
