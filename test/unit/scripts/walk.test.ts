/** What `npm run walk` prints, and what it says where it cannot. The walk itself is test/integration/walk.test.ts. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { listed } from '../../../scripts/walk/listing.ts';

const path = (file: string): string => fileURLToPath(new URL(`../../../scripts/${file}`, import.meta.url));

describe('the walk', () => {
  it('lists each function once, and a file again where the call comes back to another function of it', () => {
    const walk = [
      { file: 'door.ts', name: 'open', line: 3 },
      { file: 'door.ts', name: 'greet', line: 9 },
      { file: 'queue.ts', name: 'Queue.claim', line: 5 },
      { file: 'door.ts', name: 'greet', line: 11 },
      { file: 'door.ts', name: 'close', line: 20 },
    ];
    const { data, text } = listed(walk);
    assert.deepEqual(data.files, ['door.ts', 'queue.ts']);
    assert.deepEqual(text.split('\n'), [
      '1 door.ts  open:3  greet:9',
      '2 queue.ts  Queue.claim:5',
      '1 door.ts  close:20',
      '',
      '2 files of functions/src',
    ]);
  });

  it('names the tool that was meant', () => {
    const program = [path('walk/main.ts'), 'coordination_claim_taks', '--check'];
    const { status, stderr } = spawnSync(process.execPath, program, { encoding: 'utf8' });
    assert.equal(status, 1);
    assert.match(
      stderr,
      /^There is no tool "coordination_claim_taks"\. Did you mean coordination_claim_task\?\n$/m,
    );
  });

  it('says how it is called', () => {
    const { status, stdout } = spawnSync(process.execPath, [path('walk.mjs'), '--help'], {
      encoding: 'utf8',
    });
    assert.equal(status, 0);
    assert.match(stdout, /^npm run walk -- <tool> \[--json\]\n/);
  });
});
