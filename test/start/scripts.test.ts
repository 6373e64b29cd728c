/** Every npm script as the first command in a fresh clone, with installed packages and an unreachable proxy. */
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

/** Build outputs of a script, which another script would find. */
const BUILT = ['.dev', 'functions/dist', 'console/dist', 'packages/muster/dist'];

/** Scripts that run for long without arguments, each with the test that runs it. */
const LONG: Readonly<Record<string, string>> = {
  start: 'test/start/start.test.ts',
  test: 'every test',
  'test:nightly': 'every test',
  'test:real': 'test/unit/scripts/realServices.test.ts',
  bench: 'npm run bench',
};

/** Scripts that take half a minute or more; without arguments they run only in the nightly run. */
const SLOW = ['build', 'lint', 'format', 'reference'];

/** Output of scripts that fail without arguments. The others succeed. */
const REFUSALS: Readonly<Record<string, RegExp>> = {
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

describe('the first command in a fresh clone', () => {
  const temporary = mkdtempSync(join(tmpdir(), 'scripts-'));
  const clone = join(temporary, 'clone');

  before(() => cloneInto(clone, ['test/node_modules', 'test/schemas/node_modules']));
  after(() => rmSync(temporary, { recursive: true, force: true }));
  afterEach(() => {
    for (const path of BUILT) rmSync(join(clone, path), { recursive: true, force: true });
  });

  async function run(script: string, ...args: readonly string[]): Promise<{ code: number | null; said: string }> {
    const proxies = { HTTP_PROXY: NOBODY, HTTPS_PROXY: NOBODY, http_proxy: NOBODY, https_proxy: NOBODY };
    const child = spawn('npm', ['run', '-s', script, '--', ...args], {
      cwd: clone,
      env: { ...process.env, ...proxies, TMPDIR: temporary, NO_PROXY: '', no_proxy: '', MUSTER_TOKEN: '' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    const said = out + err;
    assert.doesNotMatch(said, /\n\s+at .*:\d+:\d+|ENOENT|MODULE_NOT_FOUND/, `npm run ${script} ${args.join(' ')}`);
    return { code, said };
  }

  for (const script of Object.keys(scripts)) {
    it(`npm run ${script} -- --help prints the usage`, async () => {
      const { code, said } = await run(script, '--help');
      assert.equal(code, 0, said);
      assert.match(said, /npm (start|test|run [\w:-]+)|muster-runner --repo/);
    });

    if (script in LONG || (!IS_NIGHTLY && SLOW.includes(script))) continue;
    const refusal = REFUSALS[script];
    it(`npm run ${script} ${refusal === undefined ? 'succeeds' : 'reports its missing arguments'}`, async () => {
      const { code, said } = await run(script);
      if (refusal === undefined) assert.equal(code, 0, said);
      else {
        assert.equal(code, 1, said);
        assert.match(said, refusal);
      }
    });
  }
});
