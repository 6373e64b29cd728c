/** A newcomer can follow a call: `npm run walk` lists what it enters, and a claim enters few files. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';

/**
 * From the door to the commit and back. Two of them came with signing in: each request is first told from those that
 * sign in, and what is refused has to name the address at which one does. Sixteen came with steering: what the claim
 * changes in the graph and leaves in the trail is written by its commit, and its answer has the messages that wait and
 * what blocks the rest.
 */
const MOST_FILES = 64;

const listing = z.object({ tool: z.string(), files: z.array(z.string()) });

const path = (file: string): string => fileURLToPath(new URL(`../../scripts/walk/${file}`, import.meta.url));

describe('the walk of', () => {
  it(`coordination_claim_task enters at most ${MOST_FILES} files`, async () => {
    const program = ['--import', path('probes.ts'), path('main.ts'), 'coordination_claim_task', '--json'];
    const { stdout } = await promisify(execFile)(process.execPath, program);
    const { files } = listing.parse(JSON.parse(stdout));
    assert.ok(files.length <= MOST_FILES, files.join('\n'));
    const [first] = files;
    assert.match(String(first), /^functions\/src\/entry\//);
    for (const station of ['/claim_task.ts', '/stateMachine.ts', '/provenCommit.ts']) {
      assert.ok(
        files.some((file) => file.endsWith(station)),
        `the call never came to ${station}`,
      );
    }
  });
});
