/** File mode of each committed file, even in a tree that GitHub does not list completely. */
import assert from 'node:assert/strict';
import type { MusterError } from '../../../functions/src/kernel/errors.ts';
import { type FileChange, kindsOf, openTree } from '../../../functions/src/toolsets/github/rules/commitRequest.ts';
import { refusal } from '../../support/refusal.ts';
import { AT, GitHubFixture } from './fixture.ts';

const TREES = 'GET /repos/{owner}/{repo}/git/trees/{tree_sha}';

describe('committed file', () => {
  let fixture: GitHubFixture;

  before(async () => {
    fixture = await GitHubFixture.open();
    fixture.repo.push('main', {
      'README.md': '# Read me\n',
      'bin/run': { mode: '100755', content: '#!/bin/sh\n' },
      'deep/er/and/deeper/run': { mode: '100755', content: '#!/bin/sh\n' },
      'deep/er/text': 'text',
      latest: { mode: '120000', content: 'README.md' },
      'vendor/library': { mode: '160000', content: 'a'.repeat(40) },
    });
  });
  after(() => fixture.close());

  const change = (path: string, more: Partial<FileChange> = {}): FileChange => {
    return { path, content: 'new', encoding: 'utf8', delete: false, ...more };
  };
  const deletion = (path: string): FileChange => ({ path, encoding: 'utf8', delete: true });

  const view = (commit = 'main') => {
    const { tree = '' } = fixture.repo.objects.commits.get(fixture.repo.branches.get(commit) ?? '') ?? {};
    return openTree(fixture.gitHub, AT, tree);
  };
  const kinds = async (...files: FileChange[]) => kindsOf(await view(), files);
  const refused = (...files: FileChange[]): Promise<MusterError> => refusal(() => kinds(...files));

  for (const [how, limit] of [
    ['that GitHub lists completely', 100_000],
    ['that GitHub truncates', 2],
  ] as const)
    describe(`in a tree ${how}`, () => {
      before(() => {
        fixture.server.world.treeLimit = limit;
      });

      it('keeps its mode if it exists, and becomes a plain file if it is new', async () => {
        const files = [
          change('bin/run'),
          change('deep/er/and/deeper/run'),
          change('deep/er/text'),
          change('latest', { content: 'bin/run' }),
          change('new/file'),
        ];
        assert.deepEqual(
          [...(await kinds(...files)).values()],
          ['executable', 'executable', 'file', 'symlink', 'file'],
        );
      });

      it('gets the mode that the caller sets, even if it was a link', async () => {
        const files = [
          change('bin/run', { executable: false }),
          change('deep/er/text', { executable: true }),
          change('latest', { executable: false, content: 'several\nlines\n' }),
        ];
        assert.deepEqual([...(await kinds(...files)).values()], ['file', 'executable', 'file']);
      });

      it('is deleted if it exists, and otherwise the deletion is rejected', async () => {
        await kinds(deletion('deep/er/and/deeper/run'), deletion('vendor/library'));
        const { code, details } = await refused(change('README.md'), deletion('deep/er/none'));
        assert.deepEqual([code, details.reason, details.field], ['NOT_FOUND', 'FILE_NOT_FOUND', 'files.1.path']);
      });

      it("cannot replace a directory, a submodule or a part of a file's path", async () => {
        for (const [file, reason] of [
          [change('deep/er'), 'IS_DIRECTORY'],
          [deletion('deep'), 'IS_DIRECTORY'],
          [change('deep', { executable: true }), 'IS_DIRECTORY'],
          [change('vendor/library'), 'IS_SUBMODULE'],
          [change('vendor/library/src/a.ts'), 'IS_SUBMODULE'],
          [change('deep/er/text/below'), 'NOT_A_DIRECTORY'],
          [change('latest', { content: '# Read me\n\nMore\n' }), 'IS_SYMLINK'],
          [change('latest', { content: Buffer.from([0, 1]).toString('base64'), encoding: 'base64' }), 'IS_SYMLINK'],
        ] as const) {
          const { code, details } = await refused(file);
          assert.deepEqual([code, details.reason, details.field], ['CONFLICT', reason, 'files.0.path'], file.path);
        }
        await kinds(deletion('deep/er/text'), change('deep/er/text/below'));
      });
    });

  it('is looked up with one request per directory, in at most 100 directories', async () => {
    fixture.server.world.treeLimit = 2;
    const before = fixture.server.count(TREES);
    await kinds(change('deep/er/text'), change('deep/er/other'), change('deep/er/and/deeper/run'));
    assert.equal(fixture.server.count(TREES) - before, 1 + 5);
    const many = Array.from({ length: 100 }, (_, index) => `many/${index}/file`);
    fixture.repo.push('wide', Object.fromEntries(many.map((path) => [path, { mode: '100755', content: 'x' }])));
    const files = many.map((path) => change(path));
    const { details } = await refusal(async () => kindsOf(await view('wide'), files));
    assert.equal(details.reason, 'TREE_TOO_LARGE');
    const output = files.map((file) => ({ ...file, executable: true }));
    assert.equal((await kindsOf(await view('wide'), output)).get('many/99/file'), 'executable');
  }).timeout(60_000); // This test sends hundreds of requests.

  it('has the requested mode in the tree that is created', async () => {
    const { tree = '' } = fixture.repo.objects.commits.get(fixture.repo.branches.get('main') ?? '') ?? {};
    const entries = (['file', 'executable', 'symlink'] as const).map((kind) => ({
      path: `made/${kind}`,
      kind,
      content: { text: 'README.md' },
    }));
    const made = await fixture.gitHub.createTree(AT, tree, entries);
    const files = fixture.repo.objects.trees.get(made ?? '');
    const found = entries.map(({ path }) => files?.get(path)?.mode);
    assert.deepEqual(found, ['100644', '100755', '120000']);
  });
});
