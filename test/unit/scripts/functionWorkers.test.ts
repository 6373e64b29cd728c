/** Process in which firebase-tools runs a function, with the module that Muster preloads into it. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { root } from '../../../scripts/project.mjs';
import { eventually } from '../../e2e/support/waiting.ts';

const PROGRAM = createRequire(import.meta.url).resolve('firebase-tools/lib/emulator/functionsEmulatorRuntime');
const FUNCTION = 'exports.loaded = (request, response) => response.json(Object.keys(require.cache));';
const SERVER = "require('node:http').createServer().keepAliveTimeout";

describe('process of the functions emulator', () => {
  it('keeps idle connections open, because a request may already be on its way', () => {
    const args = ['--require', `${root}/scripts/emulators/preload.cjs`, '--print', SERVER];
    assert.equal(execFileSync(process.execPath, args, { encoding: 'utf8' }), '0\n');
  });
});

describe('process of a function in the emulator', () => {
  const folder = mkdtempSync(`${tmpdir()}/muster-worker-`);
  after(() => rmSync(folder, { recursive: true }));

  it('responds without loading firebase modules that it does not need', async () => {
    const dependencies = { 'firebase-admin': '*', 'firebase-functions': '*' };
    writeFileSync(`${folder}/package.json`, JSON.stringify({ dependencies }));
    writeFileSync(`${folder}/index.js`, FUNCTION);
    symlinkSync(`${root}/node_modules`, `${folder}/node_modules`);
    const socketPath = `${folder}/socket`;
    const child = spawn(
      process.execPath,
      ['--require', `${root}/scripts/emulators/preload.cjs`, PROGRAM.replace(/\.js$/, '')],
      {
        cwd: folder,
        env: { ...process.env, PORT: socketPath, FUNCTION_TARGET: 'loaded', FUNCTION_SIGNATURE_TYPE: 'http' },
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      },
    );
    try {
      const loaded: string[] = JSON.parse(
        await eventually('it answers', () => asked(socketPath).catch(() => undefined)),
      );
      assert.ok(loaded.includes(PROGRAM));
      const filesOf = (folder: string) => loaded.filter((file) => file.includes(folder)).length;
      // Only the main file of each firebase package is loaded, and a stub replaces it. No file of deploy/ is loaded.
      const folders = ['/firebase-admin/lib/', '/firebase-functions/lib/', '/firebase-tools/lib/deploy/'];
      assert.deepEqual(folders.map(filesOf), [1, 1, 0]);
    } finally {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
  });
});

async function asked(socketPath: string): Promise<string> {
  const sent = request({ socketPath, path: '/' });
  sent.end();
  const [response] = await once(sent, 'response');
  assert.equal(response.statusCode, 200);
  return text(response);
}
