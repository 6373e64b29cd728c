/** Responses of Firebase Hosting according to firebase.json, as served by the emulator of the Firebase CLI. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { root } from '../../../scripts/project.mjs';
import { close, listen, originOf } from '../../support/listening.ts';

type Middleware = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

/** Maximum time in seconds for which a browser may cache a 404 response. */
const MAX_MISSING = 600;
const ofCli = createRequire(createRequire(import.meta.url).resolve('firebase-tools'));
const { superstatic } = z
  .object({ superstatic: z.custom<(options: object) => Middleware>((value) => typeof value === 'function') })
  .parse({ superstatic: ofCli('superstatic').default });

const { hosting } = z
  .object({ hosting: z.looseObject({}) })
  .parse(JSON.parse(readFileSync(`${root}/firebase.json`, 'utf8')));

describe('Firebase Hosting of the console', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hosting-'));
  const asset = join(folder, 'assets', 'screen-1a2b.js');
  let server: Server;

  before(async () => {
    mkdirSync(join(folder, 'assets'));
    writeFileSync(join(folder, 'index.html'), '<title>Muster</title>');
    writeFileSync(asset, 'export {};');
    const answer = superstatic({ cwd: folder, config: { ...hosting, public: '.' } });
    // Hosting passes these paths to other services, which do not run in this test.
    const missing = (response: ServerResponse) => () => void response.writeHead(404).end();
    server = createServer((request, response) => answer(request, response, missing(response)));
    await listen(server);
  });
  after(async () => {
    await close(server);
    rmSync(folder, { recursive: true });
  });

  async function get(path: string) {
    const response = await fetch(`${originOf(server)}${path}`);
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  /** Returns the number of seconds for which a browser caches a response. */
  function keptFor(headers: Headers): number {
    const control = headers.get('cache-control') ?? '';
    assert.doesNotMatch(control, /immutable/);
    return control === 'no-cache' ? 0 : Number(/max-age=(\d+)/.exec(control)?.[1]);
  }

  for (const path of ['/', '/tasks', '/tasks/task.1.js', '/workspace/assets', '/none.js', '/assets-of-mine'])
    it(`returns the page, which browsers do not cache, for ${path}`, async () => {
      const { status, headers, text } = await get(path);
      assert.equal(status, 200);
      assert.match(text, /<title>Muster/);
      assert.equal(keptFor(headers), 0);
      assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'/);
    });

  for (const path of ['/assets/none.js', '/assets/none', '/assets/screen-1a2b.js.map', '/assets/below/none.js'])
    it(`returns a 404 response, which browsers cache only briefly, for ${path}`, async () => {
      const { status, headers, text } = await get(path);
      assert.equal(status, 404, text);
      assert.doesNotMatch(text, /<title>Muster/);
      assert.ok(keptFor(headers) <= MAX_MISSING, headers.get('cache-control') ?? '');
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
    });

  it('returns a file that was removed by a rollback as soon as the file exists again', async () => {
    assert.equal((await get('/assets/screen-1a2b.js')).status, 200);
    rmSync(asset);
    const { status, headers } = await get('/assets/screen-1a2b.js');
    assert.equal(status, 404);
    assert.ok(keptFor(headers) <= MAX_MISSING);
    writeFileSync(asset, 'export {};');
    const again = await get('/assets/screen-1a2b.js');
    assert.deepEqual([again.status, again.text], [200, 'export {};']);
  });
});
