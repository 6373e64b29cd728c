/**
 * After any action of an agent on git and files, and any kill of its runner, every byte that it wrote is reachable
 * afterwards, and nothing outside of its worktree and the documented refs has changed.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { byDay } from '../../../test/support/night.ts';
import { newFolder, removeFolder } from '../support/folders.ts';
import { KINDS } from './kinds.ts';
import { play, type Sequence } from './sequence.ts';
import { isolateGit, makeTemplates } from './stage.ts';

const SEQUENCES = byDay(200, { night: 5000 });
const PER_TEST = 10;

/** So many steps with git and files has an attempt, about; a later one is never reached. */
const STEPS = 80;

const sequence: fc.Arbitrary<Sequence> = fc.record({
  kinds: fc.array(fc.constantFrom(...Object.keys(KINDS)), { minLength: 1, maxLength: 4 }),
  succeeds: fc.boolean(),
  doom: fc.option(
    fc.record({ at: fc.integer({ min: 1, max: STEPS }), when: fc.constantFrom('before', 'within', 'after') }),
    { nil: undefined },
  ),
});

describe('mischief of an agent', () => {
  let folder: string;
  let restore: () => void;

  before(() => {
    folder = newFolder();
    restore = isolateGit(folder);
    makeTemplates(`${folder}/templates`);
  });
  after(() => {
    restore();
    removeFolder(folder);
  });

  for (let first = 0; first < SEQUENCES; first += PER_TEST)
    it(`loses nothing in the random sequences ${first + 1} to ${first + PER_TEST}`, async () => {
      const seed = (fc.readConfigureGlobal().seed ?? 1) + first;
      for (const one of fc.sample(sequence, { numRuns: PER_TEST, seed })) await assertKept(one);
    });

  let played = 0;

  async function assertKept(one: Sequence): Promise<void> {
    played += 1;
    const at = `${folder}/${played}`;
    const problems = await play(one, `${folder}/templates`, at);
    assert.deepEqual(problems, [], JSON.stringify(one));
    removeFolder(at);
  }
});
