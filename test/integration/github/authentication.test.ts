/** Authentication of the GitHub App at the local GitHub: JWT, installation, token, expiry and renewal. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mock } from 'node:test';
import { inspect } from 'node:util';
import { README } from '../../support/github/seed.ts';
import { refusal } from '../../support/refusal.ts';
import { AT, GitHubFixture } from './fixture.ts';

const README_FILE = { ...AT, path: 'README.md' };
const INSTALLATION = 'GET /repos/{owner}/{repo}/installation';
const TOKENS = 'POST /app/installations/{installation_id}/access_tokens';

describe('GitHub App authentication', () => {
  let stageFixture: GitHubFixture;

  beforeEach(async () => {
    stageFixture = await GitHubFixture.open();
  });

  afterEach(async () => {
    mock.timers.reset();
    await stageFixture.close();
  });

  const read = async () => (await stageFixture.answer('readFile', README_FILE))['content'];

  /** Advances the clock of this process. Both Muster and the local GitHub use it. */
  function pass(minutes: number): void {
    const now = Date.now() + minutes * 60_000;
    mock.timers.reset();
    mock.timers.enable({ apis: ['Date'], now });
  }

  it('requests an installation and its token once for several calls', async () => {
    await Promise.all([read(), read(), read()]);
    await read();
    assert.equal(stageFixture.gitHub.count(INSTALLATION), 1);
    assert.equal(stageFixture.gitHub.count(TOKENS), 1);
  });

  it('sends a JWT with requests about the App, and the installation token with other requests', async () => {
    await read();
    const schemes = stageFixture.gitHub.seen.map(({ route, authorization = '' }) => {
      const [, credential = ''] = authorization.split(' ');
      return [route, credential.split('.').length === 3 ? 'JWT' : credential.slice(0, 4)];
    });
    const contents = 'GET /repos/{owner}/{repo}/contents/{path}';
    assert.deepEqual(schemes, [
      [INSTALLATION, 'JWT'],
      [TOKENS, 'JWT'],
      [contents, 'ghs_'],
    ]);
  });

  it('requests a new token before the old token expires', async () => {
    await read();
    const [first] = stageFixture.gitHub.world.tokens;
    assert.ok(first);
    pass(58);
    assert.equal(await read(), README);
    assert.equal(stageFixture.gitHub.count(TOKENS), 1);
    pass(2);
    assert.equal(await read(), README);
    assert.equal(stageFixture.gitHub.count(TOKENS), 2);
    assert.ok(first.expiresAt.getTime() <= Date.now(), 'the first token has expired');
  });

  it('requests one new token after GitHub has rejected the old token', async () => {
    await read();
    pass(5);
    stageFixture.gitHub.world.revokeTokens();
    assert.equal(await read(), README);
    assert.equal(stageFixture.gitHub.count(TOKENS), 2);
  });

  it('uses a separate token for each installation', async () => {
    const { world: worldFixture } = stageFixture.gitHub;
    const other = worldFixture.repository('octocat', 'private');
    other.isPrivate = true;
    other.push('main', { 'README.md': 'other' });
    worldFixture.install('octocat', other);
    await read();
    const { content } = await stageFixture.answer('readFile', { owner: 'octocat', repo: 'private', path: 'README.md' });
    assert.equal(content, 'other');
    const accounts = worldFixture.tokens.map(({ installation }) => installation.account);
    assert.deepEqual(accounts, ['sartor-ai', 'octocat']);
  });

  it('finds an installation that was created after an earlier call had failed', async () => {
    const { world: worldFixture } = stageFixture.gitHub;
    const late = worldFixture.repository('octocat', 'late');
    late.isPrivate = true;
    late.push('main', { 'README.md': 'late' });
    const given = { owner: 'octocat', repo: 'late', path: 'README.md' };
    assert.equal((await stageFixture.refusal('readFile', given)).data['reason'], 'ACCESS_DENIED');
    worldFixture.install('octocat', late);
    pass(11); // An installation is cached for ten minutes. A missing installation is not cached.
    assert.equal((await stageFixture.answer('readFile', given))['content'], 'late');
  });

  it('fails with NOT_SET_UP if the private key belongs to another App', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const { id } = stageFixture.gitHub.world.app;
    stageFixture.app = stageFixture.compose(() => ({ apiUrl: stageFixture.gitHub.url, app: { id, privateKey: pem } }));
    const { data, message } = await stageFixture.refusal('readFile', README_FILE);
    assert.equal(data['reason'], 'NOT_SET_UP');
    assert.equal(message, "GitHub rejected this deployment's credentials.");
  });

  it('reveals no private key and no token in errors', async () => {
    const contents = 'GET /repos/{owner}/{repo}/contents/{path}';
    const { id, privateKey } = stageFixture.gitHub.world.app;
    const broken = stageFixture.compose(() => ({
      apiUrl: stageFixture.gitHub.url,
      app: { id, privateKey: privateKey.slice(0, -200) },
    }));
    for (const [app, fault] of [
      [stageFixture.app, { route: contents, status: 403 }],
      [stageFixture.app, { route: contents, status: 502, times: 3 }],
      [stageFixture.app, { route: contents, hangUp: true, times: 3 }],
      [stageFixture.app, { route: contents, text: 'null' }],
      [stageFixture.compose(() => stageFixture.asApp), { route: TOKENS, status: 403 }],
      [broken, { route: TOKENS, status: 403 }],
    ] as const) {
      stageFixture.gitHub.fail(fault);
      const error = await refusal(() => app.gitHub.ports.gitHub.contents(AT, 'README.md', 'main'));
      const logged = inspect(error, { depth: 10, showHidden: true });
      assert.doesNotMatch(logged, /ghs_|eyJ|PRIVATE KEY|authorization/i);
      for (const line of privateKey.split('\n').slice(1, -2)) assert.ok(!logged.includes(line));
    }
  });

  it("returns GitHub's rate limit: the limit, the remaining calls and the reset time", async () => {
    const { limit, remaining, reset } = await stageFixture.app.gitHub.ports.gitHub.rateLimit();
    assert.deepEqual([limit, remaining], [5000, 5000]);
    assert.ok(reset.getTime() > Date.now());
  });
});
