/** Runs each npm script as the first command in a fresh clone, with installed packages, without internet access. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { root } from '../../scripts/project.mjs';
import { cloneInto } from '../support/clone.ts';
import { IS_NIGHTLY } from '../support/nightly.ts';

const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));

/** Build outputs, deleted after each script so that the next script cannot use them. */
const BUILT = ['.dev', 'functions/dist', 'console/dist', 'packages/muster/dist'];

/** Long-running scripts, which this test does not run. Each value names what runs the whole script. */
const LONG: Readonly<Record<string, string>> = {
  start: 'test/start/start.test.ts',
  test: 'every test',
  'test:nightly': 'every test',
  'test:real': 'test/unit/scripts/realServices.test.ts',
  bench: 'npm run bench',
};

/** Scripts that take at least half a minute. Only the nightly run runs them. */
const SLOW = ['build', 'lint', 'format', 'reference'];

/** Expected error output of the scripts that fail without arguments. All other scripts succeed without arguments. */
const REFUSALS: Readonly<Record<string, RegExp>> = {
  eval: /Usage:/,
  agents: /Usage:/,
  people: /Usage:/,
  rebuild: /Usage:/,
  doctor: /Missing project/,
  deploy: /Missing project/,
  runner: /Usage:/,
  clock: /npm run clock -- advance/,
  screenshots: /npm start/,
  'store-release': /invalid version/,
  version: /invalid version/,
};

const NOBODY = 'http://127.0.0.1:9';

describe('npm scripts in a fresh clone', () => {
  const temporary = mkdtempSync(join(tmpdir(), 'scripts-'));
  const clone = join(temporary, 'clone');

  before(() => cloneInto(clone, ['test/node_modules', 'test/schemas/node_modules']));
  after(() => rmSync(temporary, { recursive: true, force: true }));
  afterEach(() => {
    for (const path of BUILT) rmSync(join(clone, path), { recursive: true, force: true });
  });

  async function run(script: string, ...args: readonly string[]): Promise<{ code: number | null; output: string }> {
    const proxies = { HTTP_PROXY: NOBODY, HTTPS_PROXY: NOBODY, http_proxy: NOBODY, https_proxy: NOBODY };
    const child = spawn('npm', ['run', '-s', script, '--', ...args], {
      cwd: clone,
      env: { ...process.env, ...proxies, TMPDIR: temporary, NO_PROXY: '', no_proxy: '', MUSTER_TOKEN: '' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    const output = out + err;
    assert.doesNotMatch(output, /\n\s+at .*:\d+:\d+|ENOENT|MODULE_NOT_FOUND/, `npm run ${script} ${args.join(' ')}`);
    return { code, output };
  }

  for (const script of Object.keys(scripts)) {
    if (script in LONG || (!IS_NIGHTLY && SLOW.includes(script))) continue;
    const refusal = REFUSALS[script];
    it(`npm run ${script} without arguments ${refusal === undefined ? 'succeeds' : 'fails and reports why'}`, async () => {
      const { code, output } = await run(script);
      if (refusal === undefined) assert.equal(code, 0, output);
      else {
        assert.equal(code, 1, output);
        assert.match(output, refusal);
      }
    });
  }
});
