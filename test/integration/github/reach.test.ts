/** The members of a workspace reach what is listed for it, and nothing else that the GitHub App sees. */
import assert from 'node:assert/strict';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { agentOf } from '../../support/principals.ts';
import { AT, Stage } from './stage.ts';

const SECRET = { owner: 'sartor-ai', repo: 'secret' };

describe('what a workspace reaches on GitHub', () => {
  let stage: Stage;
  let member: Principal;
  let viewer: Principal;

  before(async () => {
    stage = await Stage.open();
    const secret = stage.gitHub.world.repository(SECRET.owner, SECRET.repo);
    secret.isPrivate = true;
    secret.push('main', { 'README.md': 'needle of another team, see repo:sartor-ai/claude-network' });
    const [installation] = stage.gitHub.world.installations;
    assert.ok(installation);
    installation.repositories.add(secret.fullName);
  });
  after(() => stage.close());

  beforeEach(() => {
    member = memberOf('worker');
    viewer = memberOf('viewer');
  });

  /** A member of the team's workspace, which is private. */
  function memberOf(role: 'viewer' | 'worker'): Principal {
    const { workspace } = stage.team;
    const owner = { workspaces: { [workspace]: role }, access: { [workspace]: 'private' as const } };
    return { ...agentOf('one', 'ann', role), owner };
  }

  async function list(...repositories: string[]): Promise<void> {
    const { store } = stage.app.kernel;
    await store.commit([{ kind: 'listRepositories', workspace: stage.team.workspace, repositories }]);
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

  it('is what is listed, by name or by owner, whatever the case', async () => {
    for (const listed of ['sartor-ai/claude-network', 'Sartor-AI/*']) {
      await list(listed);
      const { content } = await stage.answer('readFile', { ...AT, path: 'README.md' }, member);
      assert.equal(typeof content, 'string');
    }
  });

  it('is nothing else, in the same words whether there is such a repository or not', async () => {
    await list('sartor-ai/claude-network');
    for (const [tool, args] of Object.entries(calls)) {
      const asked = stage.gitHub.total;
      const words = [];
      for (const at of [SECRET, { owner: 'sartor-ai', repo: 'absent' }]) {
        const { message, data } = await stage.refusal(tool, { ...at, ...args }, member);
        assert.equal(data['reason'], 'ACCESS_DENIED', tool);
        words.push(message.replace(at.repo, 'x'));
      }
      assert.equal(words[0], words[1], tool);
      assert.equal(stage.gitHub.total, asked, `${tool}: GitHub is not asked`);
    }
  });

  it('is nothing in a private workspace that lists nothing, whatever the deployment lists for open ones', async () => {
    await list();
    const { data } = await stage.refusal('readFile', { ...AT, path: 'README.md' }, member);
    assert.equal(data['reason'], 'ACCESS_DENIED');
    assert.equal(
      (await stage.refusal('searchCode', { query: 'needle' }, member)).data['reason'],
      'ACCESS_DENIED',
    );
    const open: Principal = { ...member, owner: { role: 'worker', workspaces: {}, access: {} } };
    const inOpen = { ...open, owner: { ...open.owner, access: { [stage.team.workspace]: 'open' as const } } };
    await stage.answer('readFile', { ...AT, path: 'README.md' }, inOpen);
  });

  it('is searched alone, and nothing outside it is found or counted', async () => {
    await list('sartor-ai/claude-network');
    const found = await stage.answer('searchCode', { query: 'needle' }, member);
    assert.deepEqual([found['total'], found['results']], [0, []]);
    await list('sartor-ai/*');
    assert.equal((await stage.answer('searchCode', { query: 'needle' }, member))['total'], 1);
    await list('sartor-ai/claude-network');
    for (const query of [
      'needle repo:sartor-ai/secret',
      'needle user:sartor-ai',
      'needle org:"sartor-ai"',
      '"needle repo:sartor-ai/secret',
      'needle REPO:Sartor-AI/Secret',
      'repo:sartor-ai/claude-network needle OR repo:sartor-ai/secret',
    ]) {
      const { data } = await stage.refusal('searchCode', { query }, member);
      assert.equal(data['reason'], 'ACCESS_DENIED', query);
    }
    // What names a place that is listed, and narrows the search to none.
    for (const query of [
      'needle -repo:sartor-ai/claude-network',
      'needle NOT repo:sartor-ai/claude-network',
      'needle "repo:sartor-ai/claude-network"',
      'needle "see repo:sartor-ai/claude-network',
    ]) {
      for (const page of [1, 2]) {
        const { total, results } = await stage.answer('searchCode', { query, page }, member);
        assert.deepEqual([total, results], [0, []], `${query}, page ${page}`);
      }
    }
    const filtered = { query: 'needle', filters: SECRET };
    assert.equal((await stage.refusal('searchCode', filtered, member)).data['reason'], 'ACCESS_DENIED');
  });

  it('is read by workers, and not by viewers', async () => {
    await list('sartor-ai/*');
    for (const [tool, args] of Object.entries({ ...calls, searchCode: { query: 'needle' } })) {
      const at = tool === 'searchCode' ? {} : AT;
      const { data } = await stage.refusal(tool, { ...at, ...args }, viewer);
      assert.equal(data['reason'], 'ROLE_TOO_WEAK', tool);
    }
  });
});
