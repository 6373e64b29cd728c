/** The property test of random.test.ts must detect each fault that is inserted into a copy of the runner. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { newFolder, removeFolder } from '../support/folders.ts';
import { isolateGit, makeTemplates } from './fixture.ts';
import { play, type Sequence } from './sequence.ts';

const RUNNER = new URL('../..', import.meta.url).pathname;
/** Folders from which the runner's code imports modules. They must be next to each copy of the code. */
const IMPORTED = ['node_modules', 'functions'] as const;
const ROOT = new URL('../../..', import.meta.url).pathname;

interface Mutant {
  readonly name: string;
  readonly file: string;
  readonly replace: string;
  readonly by: string;
  readonly kinds: readonly string[];
  readonly finds: RegExp;
}

const MUTANTS: readonly Mutant[] = [
  {
    name: 'does not verify the worktree before its commit',
    file: 'git/checkout.ts',
    replace: "if (!existsSync(folder)) return 'does not exist';",
    by: 'return undefined;',
    kinds: ['replacesGitByRepository'],
    finds: /its checkout is another/,
  },
  {
    name: 'ignores files that git refuses to commit',
    file: 'git/keep/settle.ts',
    replace: 'if (lost.length > 0)',
    by: 'if (lost.length < 0)',
    kinds: ['usesForbiddenName'],
    finds: /"git~1" is lost/,
  },
  {
    name: 'removes the worktree before it commits the work',
    file: 'task/attempt.ts',
    replace: 'const problem = await this.settle(worktree);',
    by: 'removeRemains(worktree.commonDir, worktree.folder); const problem = await this.settle(worktree);',
    kinds: ['writesFiles'],
    finds: /is lost/,
  },
];

describe('the property test of the runner', () => {
  let folder: string;
  let restore: () => void;

  before(async () => {
    folder = newFolder();
    restore = isolateGit(folder);
    await makeTemplates(`${folder}/templates`);
    for (const name of IMPORTED) symlinkSync(`${ROOT}/${name}`, `${folder}/${name}`);
  });
  after(() => {
    restore();
    removeFolder(folder);
  });

  for (const { name, file, replace, by, kinds, finds } of MUTANTS)
    it(`detects a runner that ${name}`, async () => {
      const copy = `${folder}/${file.replaceAll('/', '-')}`;
      mkdirSync(copy);
      cpSync(`${RUNNER}/src`, `${copy}/src`, { recursive: true });
      const code = readFileSync(`${copy}/src/${file}`, 'utf8');
      assert.equal(code.split(replace).length, 2, 'the line to change exists once');
      writeFileSync(`${copy}/src/${file}`, code.replace(replace, by));
      const sequence: Sequence = { kinds, succeeds: true, crashPoint: undefined };
      const problems = await play(sequence, `${folder}/templates`, `${copy}/stage`, `${copy}/src`);
      assert.match(problems.join('\n'), finds);
    });
});
