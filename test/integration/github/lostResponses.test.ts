/** If the response to a write at GitHub is lost, the write takes effect once, and Muster finds its result. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { AT, GitHubFixture } from './fixture.ts';

const ISSUES = 'POST /repos/{owner}/{repo}/issues';
const PULLS = 'POST /repos/{owner}/{repo}/pulls';
const NEW_BRANCH = 'POST /repos/{owner}/{repo}/git/refs';
const MOVED_BRANCH = 'PATCH /repos/{owner}/{repo}/git/refs/{ref}';

const LOSSES = [
  ['the connection closes', { hangUp: true }],
  ['GitHub returns 502', { status: 502, text: '<html>Bad gateway</html>' }],
] as const;

describe('a write to GitHub with a lost response', () => {
  let fixture: GitHubFixture;

  beforeEach(async () => {
    fixture = await GitHubFixture.open();
  });

  afterEach(() => fixture.close());

  const head = (branch = 'main'): string => fixture.repo.branches.get(branch) ?? '';
  const file = { path: 'a.txt', content: 'ours' };
  const commit = { ...AT, branch: 'main', message: 'A change', files: [file] };

  const lose = (route: string, carriedOut = () => {}) => fixture.gitHub.fail({ route, hangUp: true, carriedOut });

  for (const [what, ends] of LOSSES)
    for (const key of [undefined, 'with a key']) {
      const given = key === undefined ? {} : { idempotency_key: randomUUID() };

      it(`finds the created issue (${what}${key ? `, ${key}` : ''})`, async () => {
        fixture.gitHub.fail({ route: ISSUES, ...ends, carriedOut: () => {} });
        const answer = await fixture.answer('createIssue', { ...AT, title: 'Once', body: 'Why', ...given });
        assert.deepEqual([answer['number'], answer['created'], fixture.repo.issues.length], [1, true, 1]);
        assert.match(String(fixture.repo.issues[0]?.body), /^Why\n\n<!-- muster:[a-z0-9]{20} -->$/);
      });
    }

  it('finds the created pull request', async () => {
    lose(PULLS);
    const pull = { ...AT, title: 'End retries', head: 'fix/retries', base: 'main' };
    const answer = await fixture.answer('createPR', pull);
    assert.deepEqual([answer['number'], answer['created'], fixture.repo.pulls.length], [1, true, 1]);
  });

  it('finds the created branch', async () => {
    lose(NEW_BRANCH);
    const { created } = await fixture.answer('createBranch', { ...AT, branch: 'feature/login' });
    assert.deepEqual([created, head('feature/login')], [true, head()]);
  });

  it('finds the created commit', async () => {
    lose(MOVED_BRANCH);
    const { sha, created } = await fixture.answer('commitFiles', commit);
    assert.deepEqual([sha, created], [head(), true]);
  });

  it('finds the created commit below a newer commit of another author', async () => {
    for (const [index, more] of [{}, { expected_parent: head() }].entries()) {
      const files = [{ path: `${index}.txt`, content: 'ours' }];
      let ours = '';
      let theirs = '';
      lose(MOVED_BRANCH, () => {
        ours = head();
        theirs = fixture.repo.push('main', { [`${index}.txt`]: 'theirs', 'README.md': 'new' }, 'Theirs');
      });
      const given = index === 0 ? more : { expected_parent: head() };
      const { sha, created } = await fixture.answer('commitFiles', { ...commit, files, ...given });
      assert.deepEqual([sha, created, head()], [ours, true, theirs]);
    }
  });

  it('finds its commit if the call deletes a file and is repeated', async () => {
    const given = { ...commit, files: [file, { path: 'docs/guide.md', delete: true }] };
    const { sha } = await fixture.answer('commitFiles', given);
    const again = await fixture.answer('commitFiles', given);
    assert.deepEqual([again['sha'], again['created'], head()], [sha, false, sha]);
  });

  it('is sent again if it did not reach GitHub and if a repetition is harmless', async () => {
    fixture.gitHub.fail({ route: NEW_BRANCH, hangUp: true });
    assert.equal((await fixture.answer('createBranch', { ...AT, branch: 'feature/login' }))['created'], true);
    fixture.gitHub.fail({ route: MOVED_BRANCH, hangUp: true });
    assert.equal((await fixture.answer('commitFiles', commit))['created'], true);
  });

  it('reports OUTCOME_UNKNOWN if GitHub does not show its result', async () => {
    fixture.gitHub.fail({ route: ISSUES, hangUp: true });
    fixture.gitHub.fail({ route: PULLS, status: 504 });
    fixture.gitHub.fail({ route: NEW_BRANCH, hangUp: true, times: 3 });
    fixture.gitHub.fail({ route: MOVED_BRANCH, hangUp: true, times: 3 });
    for (const [tool, given] of [
      ['createIssue', { ...AT, title: 'Once' }],
      ['createPR', { ...AT, title: 'End retries', head: 'fix/retries', base: 'main' }],
      ['createBranch', { ...AT, branch: 'feature/login' }],
      ['commitFiles', commit],
    ] as const) {
      const { message, data } = await fixture.refusal(tool, given);
      assert.equal(data['reason'], 'OUTCOME_UNKNOWN', tool);
      assert.match(String(data['suggestion']), /may or may not have been created/, tool);
      assert.doesNotMatch(`${message} ${data['suggestion']}`, /Nothing was/, tool);
    }
    assert.deepEqual([fixture.gitHub.count(ISSUES), fixture.gitHub.count(PULLS)], [1, 1]);
  });

  it('reports CONNECTION_ERROR if no connection to GitHub was possible', async () => {
    await fixture.answer('createIssue', { ...AT, title: 'The token is there now' });
    await fixture.gitHub.stop();
    const { data } = await fixture.refusal('createIssue', { ...AT, title: 'Never' });
    assert.equal(data['reason'], 'CONNECTION_ERROR');
    await fixture.gitHub.start();
  });
});
