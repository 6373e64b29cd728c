/** Usage texts that the commands print with --help in a clone without installed packages, git, npm and Java. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { root } from '../../../scripts/project.mjs';

const COPIED = ['scripts', 'runner/src', 'test/screenshots.mjs', 'package.json', 'functions/package.json'];
const USAGE = /npm (start|test|run [\w:-]+) |muster-runner --repo|^node scripts\//;

const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
const commands = [...Object.values(scripts), 'node scripts/emulators.mjs'];

describe('usage of a command', () => {
  const clone = mkdtempSync(join(tmpdir(), 'usage-'));
  before(() => {
    for (const path of COPIED) cpSync(join(root, path), join(clone, path), { recursive: true });
  });
  after(() => rmSync(clone, { recursive: true }));

  for (const option of ['--help', '-h'])
    it(`is printed by ${option} before anything is installed`, async () => {
      for (const command of commands) {
        const args = [...command.replace(/^(exec )?node /, '').split(' '), option];
        // Rejects if the exit code is not 0.
        const printed = await promisify(execFile)(process.execPath, args, { cwd: clone, env: { PATH: '' } });
        assert.match(printed.stdout, USAGE, args.join(' '));
        assert.equal(printed.stderr, '', command);
      }
    });
});
