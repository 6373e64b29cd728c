/**
 * Calls to the real GitHub that create a branch, a commit, a pull request and an issue in a scratch repository. At
 * the end, the tests delete the branch, which closes the pull request, and close the issue.
 */
import assert from 'node:assert/strict';
import { gitHubSettings } from '../../functions/src/config.ts';
import { MusterError } from '../../functions/src/kernel/errors.ts';
import { RestGitHub } from '../../functions/src/toolsets/github/store/gitHub.ts';
import { OctokitClients } from '../../functions/src/vendors/octokit/clients.ts';
import { describeReal, newName, variable } from './asking.ts';

const SILENT = { info() {}, warn() {}, error() {} };

describeReal('github', () => {
  const [owner = '', repo = ''] = variable('MUSTER_REAL_REPOSITORY').split('/');
  const at = { owner, repo };
  const branch = newName();
  const clients = new OctokitClients({ settings: gitHubSettings, log: SILENT });
  const gitHub = new RestGitHub(clients);
  const issues: number[] = [];
  let defaultBranch: string;

  before(async () => {
    const repository = await gitHub.repository(at);
    assert.ok(repository, `repository ${owner}/${repo} not found with these credentials`);
    ({ defaultBranch } = repository);
  });

  after(async () => {
    const client = await clients.writing(at);
    await client.find('DELETE /repos/{owner}/{repo}/git/refs/{ref}', { ...at, ref: `heads/${branch}` });
    for (const issue_number of issues) {
      const closed = { ...at, issue_number, state: 'closed' };
      await client.ask('PATCH /repos/{owner}/{repo}/issues/{issue_number}', closed);
    }
    if (defaultBranch !== undefined) {
      const left = await gitHub.findPullRequest(at, `${owner}:${branch}`, defaultBranch);
      assert.equal(left, undefined, 'deleting the branch closes the pull request');
    }
  });

  it('reports how many requests of the rate limit remain', async () => {
    const { limit, remaining } = await gitHub.rateLimit();
    assert.ok(limit >= remaining && remaining > 0);
  });

  it('creates a branch, a commit and a pull request, and finds each of them', async () => {
    const base = await gitHub.commit(at, defaultBranch);
    assert.ok(base);
    assert.equal(await gitHub.createBranch(at, branch, base.sha), 'created');
    assert.equal(await gitHub.createBranch(at, branch, base.sha), 'exists');
    const path = `${branch}.txt`;
    const tree = await gitHub.createTree(at, base.tree, [
      { path, kind: 'executable', content: { text: 'Written by test:real.\n' } },
    ]);
    assert.ok(tree);
    const sha = await gitHub.createCommit(at, { message: `Add ${path}`, tree, parent: base.sha });
    assert.ok(sha);
    assert.equal(await gitHub.moveBranch(at, branch, sha), 'moved');
    assert.equal(await gitHub.branch(at, branch), sha);
    const contents = await gitHub.contents(at, path, branch);
    assert.equal(contents?.type, 'file');
    const listed = await gitHub.tree(at, tree, 'whole');
    assert.equal(listed?.entries.find((entry) => entry.path === path)?.kind, 'executable', 'the file mode is kept');
    assert.equal(await gitHub.contents(at, `not-${path}`, branch), undefined);
    const pullRequest = {
      title: `test:real ${branch}`,
      head: branch,
      base: defaultBranch,
      draft: false,
      maintainer_can_modify: false,
    };
    const made = await gitHub.createPullRequest(at, pullRequest);
    assert.ok(typeof made === 'object');
    assert.equal(await gitHub.createPullRequest(at, pullRequest), 'exists');
    assert.equal((await gitHub.findPullRequest(at, `${owner}:${branch}`, defaultBranch))?.number, made.number);
  });

  it('creates an issue, and finds it by a marker text in its body', async () => {
    const since = new Date(Date.now() - 60_000);
    const issue = await gitHub.createIssue(at, { title: `test:real ${branch}`, body: `mark: ${branch}` });
    assert.ok(typeof issue === 'object');
    issues.push(issue.number);
    assert.equal((await gitHub.findIssue(at, branch, since))?.number, issue.number);
  });

  it('rejects calls with an unknown token', async () => {
    const { apiUrl } = gitHubSettings();
    const stranger = new RestGitHub(
      new OctokitClients({ settings: () => ({ apiUrl, token: 'ghp_unknown' }), log: SILENT }),
    );
    await assert.rejects(stranger.repository(at), (error: unknown) => {
      assert.ok(error instanceof MusterError, String(error));
      return error.code === 'FORBIDDEN' || error.code === 'GITHUB_ERROR' || error.code === 'UNAUTHORIZED';
    });
  });
});
