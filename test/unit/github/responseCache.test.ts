import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { ResponseCache } from '../../../functions/src/vendors/octokit/octokitClient.ts';
import { refusal } from '../../support/refusal.ts';
import { AT, GitHubFixture } from './fixture.ts';

const CONTENTS = 'GET /repos/{owner}/{repo}/contents/{path}';

describe('conditional requests to GitHub', () => {
  let stageFixture: GitHubFixture;

  beforeEach(async () => {
    stageFixture = await GitHubFixture.open();
  });
  afterEach(async () => {
    mock.timers.reset();
    await stageFixture.close();
  });

  const readme = async (gitHub = stageFixture.gitHub) => {
    const contents = await gitHub.contents(AT, 'README.md', 'main');
    assert.ok(contents?.type === 'file');
    return Buffer.from(contents.base64 ?? '', 'base64').toString();
  };

  it('do not count against the rate limit if the data of a repository is unchanged', async () => {
    const asked = async () => [
      await readme(),
      await stageFixture.gitHub.contents(AT, 'docs', 'main'),
      await stageFixture.gitHub.commit(AT, 'main'),
      await stageFixture.gitHub.branch(AT, 'main'),
      await stageFixture.gitHub.repository(AT),
      await stageFixture.gitHub.workflowRuns(AT, { page: 1, perPage: 30 }),
      await stageFixture.gitHub.failedJobs(AT, 4_000_000_001),
      await stageFixture.gitHub.findPullRequest(AT, 'sartor-ai:fix/retries', 'main'),
      await stageFixture.gitHub.findIssue(AT, 'mark', new Date(0)),
    ];
    const first = await asked();
    const spent = stageFixture.spent;
    assert.equal(spent, first.length);
    assert.deepEqual(await asked(), first);
    assert.equal(stageFixture.spent, spent);
    assert.deepEqual(stageFixture.answered(CONTENTS), [200, 200, 304, 304]);
  });

  it('return changed data, and cache that data', async () => {
    await readme();
    stageFixture.repo.push('main', { 'README.md': 'changed' });
    assert.equal(await readme(), 'changed');
    assert.equal(await readme(), 'changed');
    assert.deepEqual(stageFixture.answered(CONTENTS), [200, 200, 304]);
  });

  it('never return cached data to another credential, or after access was revoked', async () => {
    const { world: worldFixture } = stageFixture.server;
    stageFixture.repo.isPrivate = true;
    await readme();
    worldFixture.installations[0]?.repositories.clear();
    assert.equal(await stageFixture.gitHub.contents(AT, 'README.md', 'main'), undefined);
    const person = stageFixture.connect(() => stageFixture.asPerson);
    await readme(person);
    assert.deepEqual(stageFixture.answered(CONTENTS), [200, 404, 200]);
    await readme(person);
    assert.deepEqual(stageFixture.answered(CONTENTS).slice(3), [304]);
  });

  it("read the data again with a new token, because GitHub's ETags depend on the token", async () => {
    await readme();
    // Makes the token older. If GitHub rejects a token that is only a few seconds old, its SDK retries after a delay.
    mock.timers.enable({ apis: ['Date'], now: Date.now() + 300_000 });
    stageFixture.server.world.revokeTokens();
    await readme();
    await readme();
    assert.deepEqual(stageFixture.answered(CONTENTS), [200, 401, 200, 304]);
  });

  it('return errors of GitHub unchanged', async () => {
    await readme();
    stageFixture.server.fail({ route: CONTENTS, status: 403, text: '{"message":"Resource not accessible"}' });
    assert.equal((await refusal(() => readme())).details.reason, 'ACCESS_DENIED');
    assert.ok(await readme());
  });
});

describe('ResponseCache', () => {
  it('evicts the least recently used entry, and does not store an entry that is too large', () => {
    const known = new ResponseCache();
    const megabyte = 'x'.repeat(1024 * 1024);
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) known.put(name, name, megabyte);
    known.put('a', 'a2', megabyte);
    known.put('i', 'i', megabyte);
    const left = [...'abcdefghi'].filter((name) => known.find(name) !== undefined);
    assert.deepEqual(left.join(''), 'acdefghi');
    assert.equal(known.find('a')?.etag, 'a2');
    known.put('c', 'c2', megabyte.repeat(3));
    assert.equal(known.find('c'), undefined);
  });
});
