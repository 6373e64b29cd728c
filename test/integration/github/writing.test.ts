/** The tools github.createIssue, createPR, createBranch and commitFiles, with single and repeated calls. */
import assert from 'node:assert/strict';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { AT, GitHubFixture } from './fixture.ts';

const ISSUES = 'POST /repos/{owner}/{repo}/issues';
const PULLS = 'POST /repos/{owner}/{repo}/pulls';
const REFS = 'PATCH /repos/{owner}/{repo}/git/refs/{ref}';
const PR = { ...AT, title: 'End retries', head: 'fix/retries', base: 'main' };

describe('writing to GitHub', () => {
  let fixture: GitHubFixture;

  beforeEach(async () => {
    fixture = await GitHubFixture.open();
  });

  afterEach(() => fixture.close());

  const head = (branch: string): string => fixture.repo.branches.get(branch) ?? '';
  const textAt = (branch: string, path: string) => fixture.repo.objects.textAt(head(branch), path);
  const commit = (more: JsonObject, files: readonly JsonObject[]) =>
    fixture.answer('commitFiles', { ...AT, branch: 'main', message: 'A change', files, ...more });
  const noCommit = async (more: JsonObject, files: readonly JsonObject[]) => {
    const before = new Map(fixture.repo.branches);
    const given = { ...AT, branch: 'main', message: 'A change', files, ...more };
    const { data } = await fixture.refusal('commitFiles', given);
    assert.deepEqual(fixture.repo.branches, before);
    return data['reason'];
  };

  /** Simulates a crash after GitHub has applied the call and before Muster has stored the result. */
  async function interrupted(tool: string, given: JsonObject): Promise<void> {
    const { store } = fixture.app.kernel;
    const commitBefore = store.commit;
    store.commit = () => Promise.reject(new Error('killed'));
    const { code } = await fixture.refusal(tool, given);
    assert.equal(code, -32603);
    store.commit = commitBefore;
    fixture.restart();
  }

  describe('issues', () => {
    it('are created with labels and permitted assignees', async () => {
      const fields = { body: 'Some text', labels: ['bug'], assignees: ['octocat', 'stranger'] };
      const answer = await fixture.answer('createIssue', { ...AT, title: 'Broken', ...fields });
      const { createdAt, ...rest } = answer;
      assert.ok(Math.abs(Date.parse(String(createdAt)) - Date.now()) < 60_000);
      assert.deepEqual(rest, {
        number: 2 - 1,
        url: 'https://github.com/sartor-ai/claude-network/issues/1',
        title: 'Broken',
        state: 'open',
        labels: ['bug'],
        assignees: ['octocat'],
        created: true,
      });
      assert.match(String(fixture.repo.issues[0]?.body), /^Some text\n\n<!-- muster:[a-z0-9]{20} -->$/);
    });

    it('are created once if the call is repeated with the same key', async () => {
      const given = { ...AT, title: 'Once', idempotency_key: 'issue-1' };
      const first = await fixture.answer('createIssue', given);
      assert.deepEqual(await fixture.answer('createIssue', given), first);
      assert.equal(fixture.gitHub.count(ISSUES), 1);
      const { code } = await fixture.refusal('createIssue', { ...given, title: 'Other' });
      assert.equal(code, -32201);
    });

    it('are found by a hidden marker in their body if the call is repeated after a crash', async () => {
      const given = { ...AT, title: 'Once', body: 'Text', idempotency_key: 'issue-2' };
      await interrupted('createIssue', given);
      const { number, created } = await fixture.answer('createIssue', given);
      assert.deepEqual([number, created, fixture.repo.issues.length], [1, false, 1]);
      assert.match(String(fixture.repo.issues[0]?.body), /^Text\n\n<!-- muster:[0-9a-f]{20} -->$/);
    });

    it('are rejected if the repository has issues disabled, or if the milestone is unknown', async () => {
      const { data, code } = await fixture.refusal('createIssue', { ...AT, title: 'x', milestone: 7 });
      assert.deepEqual([code, data['reason']], [-32300, 'VALIDATION_ERROR']);
      fixture.repo.hasIssues = false;
      for (const key of [{}, { idempotency_key: 'off' }]) {
        const error = await fixture.refusal('createIssue', { ...AT, title: 'x', ...key });
        assert.equal(error.data['reason'], 'ISSUES_DISABLED');
      }
    });

    it('require the role worker and an installation of the App', async () => {
      const viewer = fixture.team.principal('eve', 'viewer');
      assert.equal((await fixture.refusal('createIssue', { ...AT, title: 'x' }, viewer)).code, -32101);
      fixture.gitHub.world.repository('octocat', 'hello').push('main', { a: 'b' });
      const elsewhere = { owner: 'octocat', repo: 'hello', title: 'x' };
      assert.equal((await fixture.refusal('createIssue', elsewhere)).data['reason'], 'ACCESS_DENIED');
    });
  });

  describe('pull requests', () => {
    it('are created; a repeated call returns them while they are open', async () => {
      const first = await fixture.answer('createPR', { ...PR, body: 'Why', draft: true });
      assert.deepEqual(
        [first['number'], first['state'], first['draft'], first['headSha'], first['created']],
        [1, 'open', true, head('fix/retries'), true],
      );
      const second = await fixture.answer('createPR', { ...PR, title: 'Another title' });
      assert.deepEqual([second['number'], second['title'], second['created']], [1, 'End retries', false]);
      assert.equal(fixture.gitHub.count(PULLS), 1);
      assert.equal(fixture.repo.pulls[0]?.body, 'Why');
    });

    it('are returned if another caller created the pull request a moment earlier', async () => {
      await fixture.answer('createPR', PR);
      fixture.gitHub.fail({ route: 'GET /repos/{owner}/{repo}/pulls', text: '[]' });
      const { created, number } = await fixture.answer('createPR', PR);
      assert.deepEqual([created, number], [false, 1]);
    });

    it('are found if the call is repeated after a crash', async () => {
      const given = { ...PR, idempotency_key: 'pr-1' };
      await interrupted('createPR', given);
      assert.equal((await fixture.answer('createPR', given))['created'], false);
      assert.equal(fixture.repo.pulls.length, 1);
    });

    it('are rejected if a branch is missing or the head has no commits', async () => {
      const reasonOf = async (given: JsonObject) => {
        const { data } = await fixture.refusal('createPR', { ...PR, ...given });
        return [data['reason'], data['field']];
      };
      assert.deepEqual(await reasonOf({ head: 'none' }), ['REF_NOT_FOUND', 'head']);
      assert.deepEqual(await reasonOf({ base: 'none' }), ['REF_NOT_FOUND', 'base']);
      fixture.repo.branches.set('same', head('main'));
      assert.deepEqual(await reasonOf({ head: 'same' }), ['NO_COMMITS', 'head']);
      assert.deepEqual(await reasonOf({ head: 'a b' }), ['INVALID_REF', 'head']);
    });
  });

  describe('branches', () => {
    const given = { ...AT, branch: 'feature/login' };

    it('start at the default branch, or at the given ref', async () => {
      assert.deepEqual(await fixture.answer('createBranch', given), {
        branch: 'feature/login',
        sha: head('main'),
        created: true,
      });
      const { sha } = await fixture.answer('createBranch', { ...AT, branch: 'other', from: 'fix/retries' });
      assert.equal(sha, head('fix/retries'));
      assert.equal(head('other'), head('fix/retries'));
    });

    it('are returned if they exist at the same commit, and cause a conflict at another commit', async () => {
      await fixture.answer('createBranch', given);
      assert.equal((await fixture.answer('createBranch', given))['created'], false);
      const { code, data } = await fixture.refusal('createBranch', { ...given, from: 'fix/retries' });
      assert.deepEqual([code, data['reason']], [-32201, 'BRANCH_EXISTS']);
      assert.equal(head('feature/login'), head('main'));
    });

    it('require an existing starting point and a valid name', async () => {
      const { data } = await fixture.refusal('createBranch', { ...given, from: 'none' });
      assert.deepEqual([data['reason'], data['field']], ['REF_NOT_FOUND', 'from']);
      const named = { ...AT, branch: 'a'.repeat(40) };
      assert.equal((await fixture.refusal('createBranch', named)).data['reason'], 'INVALID_REF');
    });
  });

  describe('commits', () => {
    it('create, replace and delete files in one step, and keep all other files', async () => {
      const before = head('main');
      const answer = await commit({}, [
        { path: 'src/retry.ts', content: 'export const MAX_RETRIES = 3;\n' },
        { path: 'new/ä.txt', content: 'grüße' },
        { path: 'logo.png', content: Buffer.from([1, 0, 255]).toString('base64'), encoding: 'base64' },
        { path: 'docs/guide.md', delete: true },
      ]);
      assert.deepEqual([answer['parent'], answer['sha'], answer['created']], [before, head('main'), true]);
      assert.equal(textAt('main', 'src/retry.ts'), 'export const MAX_RETRIES = 3;\n');
      assert.equal(textAt('main', 'new/ä.txt'), 'grüße');
      assert.equal(textAt('main', 'docs/guide.md'), undefined);
      const files = fixture.repo.objects.filesOf(head('main'));
      const logo = fixture.repo.objects.blobs.get(files.get('logo.png')?.sha ?? '');
      assert.deepEqual([...(logo ?? [])], [1, 0, 255]);
      assert.ok(files.has('README.md') && files.get('vendor/library')?.mode === '160000');
      assert.equal(fixture.repo.objects.commits.get(head('main'))?.message, 'A change');
    });

    it('keep the executable flag unless the call changes it', async () => {
      const modes = () =>
        ['bin/run', 'bin/new'].map((path) => fixture.repo.objects.filesOf(head('main')).get(path)?.mode);
      await commit({}, [
        { path: 'bin/run', content: '#!/bin/bash\n' },
        { path: 'bin/new', content: 'x', executable: true },
      ]);
      assert.deepEqual(modes(), ['100755', '100755']);
      await commit({}, [{ path: 'bin/run', content: 'x', executable: false }]);
      assert.deepEqual(modes(), ['100644', '100755']);
    });

    it('are created once, however often the call is repeated', async () => {
      const files = [{ path: 'a.txt', content: 'a' }];
      const parent = head('main');
      const { sha } = await commit({}, files);
      for (const more of [{}, { expected_parent: parent }]) {
        const again = await commit(more, files);
        assert.deepEqual([again['sha'], again['parent'], again['created']], [sha, parent, false]);
      }
      assert.equal(head('main'), sha);
    });

    it('are found if the call is repeated after a crash', async () => {
      const given = { ...AT, branch: 'main', message: 'Once', files: [{ path: 'a.txt', content: 'a' }] };
      const keyed = { ...given, idempotency_key: 'commit-1' };
      await interrupted('commitFiles', keyed);
      const after = head('main');
      const { sha, created } = await fixture.answer('commitFiles', keyed);
      assert.deepEqual([sha, created, head('main')], [after, false, after]);
    });

    it('cause a conflict if the branch is no longer at the expected parent', async () => {
      const expected = head('main');
      fixture.repo.push('main', { 'other.txt': 'theirs' }, 'Theirs');
      const files = [{ path: 'a.txt', content: 'a' }];
      assert.equal(await noCommit({ expected_parent: expected }, files), 'PARENT_MOVED');
      assert.equal(await noCommit({ expected_parent: 'b'.repeat(40) }, files), 'PARENT_MOVED');
    });

    it('are retried on top of a concurrent push, and never overwrite the push', async () => {
      const theirs = { route: REFS, status: 422, text: '{"message":"Update is not a fast forward"}' };
      fixture.gitHub.fail(theirs);
      const { created } = await commit({}, [{ path: 'a.txt', content: 'a' }]);
      assert.equal(created, true);
      fixture.gitHub.fail({ ...theirs, times: 3 });
      assert.equal(await noCommit({}, [{ path: 'b.txt', content: 'b' }]), 'PARENT_MOVED');
    });

    it('change nothing if any step fails', async () => {
      const files = [{ path: 'a.txt', content: 'a' }];
      fixture.repo.protectedBranches.add('main');
      assert.equal(await noCommit({}, files), 'PROTECTED_BRANCH');
      fixture.repo.protectedBranches.clear();
      for (const route of ['POST /repos/{owner}/{repo}/git/trees', 'POST /repos/{owner}/{repo}/git/commits']) {
        fixture.gitHub.fail({ route, status: 403 });
        assert.equal(await noCommit({}, files), 'ACCESS_DENIED');
      }
      const missing = [...files, { path: 'none.txt', delete: true }];
      assert.equal(await noCommit({}, missing), 'FILE_NOT_FOUND');
    });

    it('are validated before anything is sent to GitHub', async () => {
      const text = { path: 'a.txt', content: 'a' };
      const reasons = await Promise.all(
        [
          [{ ...text, delete: true }],
          [{ path: 'a.txt' }],
          [text, text],
          [{ ...text, path: '../a' }],
          [{ ...text, path: 'x/.GIT/config' }],
          [{ ...text, content: 'not base64!', encoding: 'base64' }],
          Array.from({ length: 21 }, (_, index) => ({ path: `${index}`, content: 'YQ==', encoding: 'base64' })),
        ].map((files) => noCommit({}, files)),
      );
      assert.deepEqual(reasons, [
        'INVALID_FILE',
        'INVALID_FILE',
        'DUPLICATE_PATH',
        'INVALID_PATH',
        'INVALID_PATH',
        'INVALID_BASE64',
        'TOO_MANY_FILES',
      ]);
      assert.equal(await noCommit({ expected_parent: 'main' }, [text]), 'INVALID_REF');
      assert.equal(fixture.gitHub.seen.length, 0);
    });

    it('require an existing branch and a changed file', async () => {
      assert.equal(await noCommit({ branch: 'none' }, [{ path: 'a', content: 'a' }]), 'REF_NOT_FOUND');
      const readme = { path: 'src/retry.ts', content: 'export const MAX_RETRIES = Infinity;\n' };
      assert.equal(await noCommit({}, [readme]), 'NOTHING_TO_COMMIT');
    });
  });
});
