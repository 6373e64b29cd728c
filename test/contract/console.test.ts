/** Size and contents of the deployed console. Source: docs/decisions/0039-console-and-views.md. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { Script } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { buildConsole } from '../../scripts/setup/console.mjs';

const manifest = z.record(
  z.string(),
  z.object({
    file: z.string(),
    name: z.string().optional(),
    src: z.string().optional(),
    imports: z.array(z.string()).default([]),
    dynamicImports: z.array(z.string()).default([]),
    css: z.array(z.string()).default([]),
  }),
);

const PAGE = 'index.html';
const START = 'start';
const SHELL = 'shell';
const REALTIME = 'src/live/realtime.ts';
const FIRESTORE = 'src/live/firestore.ts';
const MESSAGING = 'src/shell/messaging.ts';
const PUSH_WORKER = 'push.js';

describe('deployed console', () => {
  const folder = mkdtempSync(`${tmpdir()}/muster-console-`);
  let chunks: z.output<typeof manifest>;

  before(async () => {
    await buildConsole('production', { node: process.execPath, env: {}, target: folder });
    const built = manifest.parse(JSON.parse(readFileSync(`${folder}/.vite/manifest.json`, 'utf8')));
    const named = Object.values(built).flatMap((chunk) => (chunk.src === undefined ? [[chunk.name, chunk]] : []));
    chunks = { ...built, ...Object.fromEntries(named) };
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Returns the named files and the files that they load, except those of `without`, which are already loaded. */
  function scripts(names: readonly string[], without: readonly string[] = []): readonly string[] {
    const seen = new Set<string>();
    const follow = (name: string): void => {
      const chunk = chunks[name];
      assert.ok(chunk, `chunk ${name} is missing`);
      if (seen.has(chunk.file)) return;
      seen.add(chunk.file);
      for (const next of chunk.imports) follow(next);
    };
    for (const name of names) follow(name);
    return [...seen].filter((file) => !without.includes(file));
  }

  function kilobytes(files: readonly string[]): number {
    return files.reduce((sum, file) => sum + gzipSync(readFileSync(`${folder}/${file}`)).length, 0) / 1000;
  }

  function holds(what: string, files: readonly string[], max: number): void {
    const size = kilobytes(files);
    assert.ok(size <= max, `${what}: ${size.toFixed(1)} kB of at most ${max}: ${files.join(', ')}`);
  }

  it('needs at most 60 kB for the sign-in page, and at most 130 kB for the frame with the Realtime Database', () => {
    holds('sign-in', [PAGE, ...scripts([START])], 60);
    holds('the frame', [PAGE, ...scripts([START, SHELL, REALTIME])], 130);
  });

  it('announces in the page what a signed-in person needs next, so that it loads together with the first script', () => {
    const page = readFileSync(`${folder}/${PAGE}`, 'utf8');
    const announced = [...page.matchAll(/rel="modulepreload" fetchpriority="low" href="\/([^"]+)"/g)].map(
      ([, url]) => url,
    );
    const needed = scripts([SHELL, FIRESTORE], scripts([START]));
    assert.deepEqual(announced.toSorted(), needed.toSorted());
    assert.match(page, /rel="preload" as="fetch" href="\/__\/firebase\/init\.json"/);
    assert.match(page, /rel="preconnect" href="https:\/\/firestore\.googleapis\.com"/);
  });

  it('loads at most 120 kB more for Firestore, and at most 25 kB more for each screen', () => {
    const first = scripts([START, SHELL, REALTIME]);
    holds('Firestore', scripts([FIRESTORE], first), 120);
    const screens = (chunks[SHELL]?.dynamicImports ?? []).filter((name) => name.startsWith('src/screens/'));
    assert.notEqual(screens.length, 0);
    for (const screen of screens) holds(screen, scripts([screen], first), 25);
  });

  it('loads Cloud Messaging, at most 12 kB, only for push messages, whose service worker has at most 6 kB', () => {
    const first = scripts([START, SHELL, REALTIME]);
    const messaging = scripts([MESSAGING], first);
    holds('Cloud Messaging', messaging, 12);
    holds('service worker', [PUSH_WORKER], 6);
    const holders = readdirSync(`${folder}/assets`).filter((file) =>
      readFileSync(`${folder}/assets/${file}`, 'utf8').includes('fcmregistrations.googleapis.com'),
    );
    assert.equal(holders.length, 1);
    assert.ok(messaging.includes(`assets/${holders[0]}`));
  });

  it('has a service worker that is one classic script, because not all browsers allow imports in it', () => {
    const text = readFileSync(`${folder}/${PUSH_WORKER}`, 'utf8');
    assert.doesNotThrow(() => new Script(text));
    assert.doesNotMatch(text, /importScripts|import\(/);
    assert.match(text, /notificationclick/);
  });

  it('has at most 12 kB of style sheets', () => {
    const styles = [...new Set(Object.values(chunks).flatMap(({ css }) => css))];
    assert.notEqual(styles.length, 0);
    holds('style', styles, 12);
  });

  it('contains no sample people, no emulator addresses and no code of the build pipeline', () => {
    const whole = readdirSync(`${folder}/assets`).map((file) => readFileSync(`${folder}/assets/${file}`, 'utf8'));
    for (const word of ['Sign in as', 'emulators.json', 'only-for-the-emulators', 'RE2JSException'])
      assert.equal(
        whole.some((text) => text.includes(word)),
        false,
        word,
      );
    assert.equal(
      whole.some((text) => text.includes('/__/firebase/init.json')),
      true,
    );
  });

  it('has no inline script or style, because its content security policy forbids them', () => {
    const page = readFileSync(`${folder}/index.html`, 'utf8');
    assert.doesNotMatch(page, /<script(?![^>]*\bsrc=)/);
    assert.doesNotMatch(page, /<style|\son\w+=|\sstyle=/);
  });
});
