/** Each kind of mischief alone: nothing is lost, and nothing outside of the worktree changes. */
import assert from 'node:assert/strict';
import { newFolder, removeFolder } from '../support/folders.ts';
import { KINDS } from './kinds.ts';
import { NEVER, play, type Sequence } from './sequence.ts';
import { isolateGit, makeTemplates } from './stage.ts';

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

  it('has at least 40 kinds', () => assert.ok(Object.keys(KINDS).length >= 40));

  for (const kind of Object.keys(KINDS))
    it(`loses nothing when the agent ${kind}`, () => {
      // In this process, root can read everything.
      const doom = kind.startsWith('makesUnreadable') ? NEVER : undefined;
      return assertKept({ kinds: [kind], succeeds: true, doom });
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
