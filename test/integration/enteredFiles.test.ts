import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';

/** Maximum number of files that one call may execute. Only decrease this number. The target is 40. */
const MAX_FILES = 60;

const program = fileURLToPath(new URL('enteredFiles.ts', import.meta.url));

describe('coordination_claim_task', () => {
  it(`executes at most ${MAX_FILES} files of functions/src`, async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [program]);
    const files = z.array(z.string()).parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''));
    for (const station of ['entry/http.ts', '/tools/work.ts', '/stateMachine.ts', '/verifiedCommit.ts'])
      assert.ok(
        files.some((file) => file.endsWith(station)),
        `the call does not execute ${station}`,
      );
    assert.ok(files.length <= MAX_FILES, `${files.length} files:\n${files.sort().join('\n')}`);
  });
});
