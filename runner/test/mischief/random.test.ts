/**
 * An agent's actions on git and files are random, and its runner is killed at random. Afterwards, every byte that the
 * agent wrote must be reachable, and outside its worktree only the documented refs may have changed.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { defaultOrNightly } from '../../../test/support/nightly.ts';
import { newFolder, removeFolder } from '../support/folders.ts';
import type { CrashPoint } from './crashPoint.ts';
import { isolateGit, makeTemplates } from './fixture.ts';
import { KINDS } from './kinds.ts';
import { NEVER, play, type Sequence } from './sequence.ts';

/** Approximate number of steps of an attempt. A crash point at a later step would never be reached. */
const STEPS = 80;
const KIND_NAMES = Object.keys(KINDS);

/** How many actions of each sequence are chosen in turn. The other actions are random. */
const TURNS = defaultOrNightly(4, { night: 1 });
/** Number of sequences after which each action has been chosen at least once. The default run plays this many. */
const ROUND = Math.ceil(KIND_NAMES.length / TURNS);
const SEQUENCES = defaultOrNightly(ROUND, { night: 5000 });
const PER_TEST = 3;

const crashPoint: fc.Arbitrary<CrashPoint> = fc.record({
  at: fc.integer({ min: 1, max: STEPS }),
  when: fc.constantFrom('before', 'within', 'after'),
});

/**
 * Returns a sequence of one to four actions. Actions chosen in turn are far apart in the list, because neighbors undo
 * each other. In every other sequence, the runner is killed.
 */
function sequenceOf(number: number): fc.Arbitrary<Sequence> {
  const turn = number % ROUND;
  const turns = KIND_NAMES.filter((_, index) => index % ROUND === turn);
  const round = Math.floor(number / ROUND);
  // With NEVER, the runner is not killed. Its process lacks root's rights, so that files can be unreadable.
  const never = turns.some((kind) => kind.startsWith('makesUnreadable')) ? NEVER : undefined;
  return fc.record({
    kinds: fc.array(fc.constantFrom(...KIND_NAMES), { maxLength: 4 - TURNS }).map((others) => [...turns, ...others]),
    succeeds: fc.boolean(),
    crashPoint: (number + round) % 2 === 1 ? crashPoint : fc.constant(never),
  });
}

describe('a runner with a mischievous agent', () => {
  let folder: string;
  let restore: () => void;

  before(async () => {
    folder = newFolder();
    restore = isolateGit(folder);
    await makeTemplates(`${folder}/templates`);
  });
  after(() => {
    restore();
    removeFolder(folder);
  });

  it('is tested with at least 40 kinds of actions', () => assert.ok(KIND_NAMES.length >= 40));

  for (let first = 0; first < SEQUENCES; first += PER_TEST)
    it(`loses no file and no commit in the random sequences ${first + 1} to ${first + PER_TEST}`, async () => {
      for (let number = first; number < Math.min(first + PER_TEST, SEQUENCES); number++) {
        const seed = (fc.readConfigureGlobal().seed ?? 1) + number;
        const [one] = fc.sample(sequenceOf(number), { numRuns: 1, seed });
        assert.ok(one);
        await assertKept(one);
      }
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
