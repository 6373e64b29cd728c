/** Members of a workspace can access its listed repositories, and no other repositories of the GitHub App. */
import assert from 'node:assert/strict';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { agentOf } from '../../support/principals.ts';
import { AT, GitHubFixture } from './fixture.ts';

const SECRET = { owner: 'sartor-ai', repo: 'secret' };

describe('repository access of a workspace', () => {
  let fixture: GitHubFixture;
  let member: Principal;
  let viewer: Principal;

  before(async () => {
    fixture = await GitHubFixture.open();
    const secret = fixture.gitHub.world.repository(SECRET.owner, SECRET.repo);
    secret.isPrivate = true;
    secret.push('main', { 'README.md': 'needle of another team, see repo:sartor-ai/claude-network' });
    const [installation] = fixture.gitHub.world.installations;
    assert.ok(installation);
    installation.repositories.add(secret.fullName);
  });
  after(() => fixture.close());

  beforeEach(() => {
    member = memberOf('worker');
    viewer = memberOf('viewer');
  });

  /** Returns a member of the team's workspace, which is private. */
  function memberOf(role: 'viewer' | 'worker'): Principal {
    const { workspace } = fixture.team;
    const owner = { workspaces: { [workspace]: role }, access: { [workspace]: 'private' as const } };
    return { ...agentOf('one', 'ann', role), owner };
  }

  async function list(...repositories: string[]): Promise<void> {
    const { store } = fixture.app.kernel;
    await store.commit([{ kind: 'listRepositories', workspace: fixture.team.workspace, repositories }]);
  }

  const calls: Readonly<Record<string, JsonObject>> = {
    readFile: { path: 'README.md' },
    createIssue: { title: 'A' },
    createPR: { title: 'A', head: 'fix', base: 'main' },
    createBranch: { branch: 'fix', from: 'main' },
    commitFiles: { branch: 'main', message: 'A', files: [{ path: 'a.txt', content: 'a' }] },
    getWorkflowRuns: {},
    getJobLogs: { run_id: 1 },
  };

  it('includes repositories that are listed by name or by owner, in any letter case', async () => {
    for (const listed of ['sartor-ai/claude-network', 'Sartor-AI/*']) {
      await list(listed);
      const { content } = await fixture.answer('readFile', { ...AT, path: 'README.md' }, member);
      assert.equal(typeof content, 'string');
    }
  });

  it('is denied for unlisted repositories, with the same error whether they exist or not', async () => {
    await list('sartor-ai/claude-network');
    for (const [tool, args] of Object.entries(calls)) {
      const asked = fixture.gitHub.total;
      const words = [];
      for (const at of [SECRET, { owner: 'sartor-ai', repo: 'absent' }]) {
        const { message, data } = await fixture.refusal(tool, { ...at, ...args }, member);
        assert.equal(data['reason'], 'ACCESS_DENIED', tool);
        words.push(message.replace(at.repo, 'x'));
      }
      assert.equal(words[0], words[1], tool);
      assert.equal(fixture.gitHub.total, asked, `${tool}: no request reaches GitHub`);
    }
  });

  it('is denied to a private workspace without a list of repositories, but not to an open one', async () => {
    await list();
    const { data } = await fixture.refusal('readFile', { ...AT, path: 'README.md' }, member);
    assert.equal(data['reason'], 'ACCESS_DENIED');
    assert.equal((await fixture.refusal('searchCode', { query: 'needle' }, member)).data['reason'], 'ACCESS_DENIED');
    const open: Principal = { ...member, owner: { role: 'worker', workspaces: {}, access: {} } };
    const inOpen = { ...open, owner: { ...open.owner, access: { [fixture.team.workspace]: 'open' as const } } };
    await fixture.answer('readFile', { ...AT, path: 'README.md' }, inOpen);
  });

  it('is restricted to listed repositories in search results and their count too', async () => {
    await list('sartor-ai/claude-network');
    const found = await fixture.answer('searchCode', { query: 'needle' }, member);
    assert.deepEqual([found['total'], found['results']], [0, []]);
    await list('sartor-ai/*');
    assert.equal((await fixture.answer('searchCode', { query: 'needle' }, member))['total'], 1);
    await list('sartor-ai/claude-network');
    for (const query of [
      'needle repo:sartor-ai/secret',
      'needle user:sartor-ai',
      'needle org:"sartor-ai"',
      '"needle repo:sartor-ai/secret',
      'needle REPO:Sartor-AI/Secret',
      'repo:sartor-ai/claude-network needle OR repo:sartor-ai/secret',
    ]) {
      const { data } = await fixture.refusal('searchCode', { query }, member);
      assert.equal(data['reason'], 'ACCESS_DENIED', query);
    }
    // Queries that must match nothing: they exclude the listed repository, or only quote its name.
    for (const query of [
      'needle -repo:sartor-ai/claude-network',
      'needle NOT repo:sartor-ai/claude-network',
      'needle "repo:sartor-ai/claude-network"',
      'needle "see repo:sartor-ai/claude-network',
    ])
      for (const page of [1, 2]) {
        const { total, results } = await fixture.answer('searchCode', { query, page }, member);
        assert.deepEqual([total, results], [0, []], `${query}, page ${page}`);
      }
    const filtered = { query: 'needle', filters: SECRET };
    assert.equal((await fixture.refusal('searchCode', filtered, member)).data['reason'], 'ACCESS_DENIED');
  });

  it('requires the role worker, even to read', async () => {
    await list('sartor-ai/*');
    for (const [tool, args] of Object.entries({ ...calls, searchCode: { query: 'needle' } })) {
      const at = tool === 'searchCode' ? {} : AT;
      const { data } = await fixture.refusal(tool, { ...at, ...args }, viewer);
      assert.equal(data['reason'], 'ROLE_TOO_WEAK', tool);
    }
  });
});
