/**
 * Known clients with special behavior, tested with their original documents and requests. Source: the table in
 * docs/guides/sign-in.md.
 */
import assert from 'node:assert/strict';
import { z } from 'zod';
import { clientDocuments } from '../../scripts/emulators/clientDocuments.mjs';
import { App, call } from './support/app.ts';
import { Deployment, type Someone } from './support/deployment.ts';
import { locationIn, Visitor } from './support/visitor.ts';

const registered = z.looseObject({ client_id: z.string(), redirect_uris: z.array(z.string()) });

/** Returns the copy of the client's document that `npm start` serves. */
function copyOf(name: string) {
  const found = clientDocuments.find(({ client_name }) => client_name === name);
  assert.ok(found, name);
  return found;
}

const CLAUDE_CODE = copyOf('Claude Code');

const CLAUDE_AI = {
  ...CLAUDE_CODE,
  client_id: 'https://claude.ai/oauth/mcp-oauth-client-metadata',
  client_name: 'Claude',
  redirect_uris: ['https://claude.ai/api/mcp/auth_callback', 'https://claude.com/api/mcp/auth_callback'],
};

const CHATGPT = {
  client_id: 'https://chatgpt.com/oauth/0a1b2c3d/client.json',
  client_name: 'ChatGPT',
  redirect_uris: ['https://chatgpt.com/connector/oauth/0a1b2c3d'],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'private_key_jwt',
  token_endpoint_auth_methods_supported: ['private_key_jwt', 'none'],
  jwks_uri: 'https://chatgpt.com/oauth/jwks.json',
};

/** The document that ChatGPT uses for all connections to servers that send `iss`. */
const CHATGPT_STABLE = copyOf('ChatGPT');
const CODEX = copyOf('Codex');

const VS_CODE = {
  ...copyOf('Visual Studio Code'),
  redirect_uris: [...copyOf('Visual Studio Code').redirect_uris, 'vscode://dynamicauthprovider/vscode.dev/authorize'],
};

const CURSOR = {
  client_name: 'Cursor',
  redirect_uris: [
    'http://localhost:8787/callback',
    'https://www.cursor.com/agents/mcp/oauth/callback',
    'cursor://anysphere.cursor-mcp/oauth/callback',
  ],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
};

const GEMINI = {
  client_name: 'Gemini CLI MCP Client',
  redirect_uris: ['http://localhost:7777/oauth/callback'],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
  scope: '',
};

describe('clients with special behavior', () => {
  let deployment: Deployment;
  let ada: Someone;

  before(async () => {
    deployment = await Deployment.start();
    ada = await deployment.person('Ada', 'leader');
    for (const document of [CLAUDE_CODE, CLAUDE_AI, CHATGPT, CHATGPT_STABLE, CODEX, VS_CODE])
      deployment.documents.texts.set(document.client_id, JSON.stringify(document));
  });
  after(() => deployment?.stop());

  async function register(body: object) {
    const headers = { 'content-type': 'application/json' };
    const url = `${deployment.origin}/register`;
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    const text = await response.text();
    assert.equal(response.status, 201, text);
    return registered.parse(JSON.parse(text));
  }

  /** Signs in with the given redirect, calls a tool, and returns the tokens. */
  async function signsIn(app: App, redirect: string, more: Readonly<Record<string, string>> = {}) {
    const started = await app.begin({ redirect_uri: redirect, ...more });
    const back = await new Visitor().allow(started.url, ada);
    assert.ok(back.href.startsWith(redirect), back.href);
    const tokens = await app.redeem(back, started, redirect);
    assert.equal((await call(deployment, tokens.access_token, 'access.whoami')).status, 200);
    return tokens;
  }

  for (const [document, redirects] of [
    [CLAUDE_CODE, ['http://localhost:54213/callback', 'http://127.0.0.1:61000/callback']],
    [CLAUDE_AI, CLAUDE_AI.redirect_uris],
    [CHATGPT, CHATGPT.redirect_uris],
    [CHATGPT_STABLE, CHATGPT_STABLE.redirect_uris],
    [CODEX, ['http://127.0.0.1:1455/callback']],
    [VS_CODE, ['http://127.0.0.1:33418/', 'http://127.0.0.1:40123/', 'https://vscode.dev/redirect']],
  ] as const)
    it(`${document.client_name} signs in with its client document ${document.client_id}`, async () => {
      const app = await App.described(deployment, document.client_id);
      for (const redirect of redirects) await signsIn(app, redirect);
      assert.equal(deployment.documents.fetched.filter((url) => url === document.client_id).length, 1);
    });

  it('Claude Code is not redirected to an address that its document does not declare', async () => {
    const app = await App.described(deployment, CLAUDE_CODE.client_id);
    for (const redirect of [
      'http://localhost:54213/callback2',
      'http://localhost:54213/callback?to=evil',
      'http://localhost:54213/callback/',
      'http://[::1]:54213/callback',
      'http://localhost.evil.example:54213/callback',
      'http://localhost:54213@evil.example/callback',
      'https://localhost:54213/callback',
    ]) {
      const { status, headers, text } = await new Visitor().open((await app.begin({ redirect_uri: redirect })).url);
      assert.deepEqual([status, headers.get('location')], [400, null], redirect);
      assert.match(text, /to an address that it .* registered/);
    }
  });

  it('Claude gets a refresh token although the only scope it requests is offline_access', async () => {
    const app = await App.described(deployment, CLAUDE_AI.client_id);
    const tokens = await signsIn(app, CLAUDE_AI.redirect_uris[0] ?? '', { scope: ' offline_access' });
    assert.ok((await app.refresh(tokens.refresh_token)).refresh_token);
  });

  it('Cursor registers three redirects and can sign in with each of them', async () => {
    const { redirect_uris, client_id } = await register(CURSOR);
    assert.deepEqual(redirect_uris, CURSOR.redirect_uris);
    const app = await App.described(deployment, client_id);
    for (const redirect of CURSOR.redirect_uris) await signsIn(app, redirect);
  });

  it('Gemini CLI registers without a scope and requests every scope at each refresh', async () => {
    const { client_id } = await register(GEMINI);
    const app = await App.described(deployment, client_id);
    const tokens = await signsIn(app, GEMINI.redirect_uris[0] ?? '');
    const scope = (app.server.scopes_supported ?? []).join(' ');
    const { status, body } = await app.token({
      grant_type: 'refresh_token',
      client_id,
      refresh_token: tokens.refresh_token,
      scope: `${scope} openid everything`,
      resource: deployment.mcp,
    });
    assert.deepEqual([status, body['scope']], [200, 'muster:read muster:write']);
  });

  it('Claude Code and VS Code can register as native programs', async () => {
    for (const redirect of ['http://localhost:3118/callback', 'http://127.0.0.1:33418/']) {
      const { client_id } = await register({ redirect_uris: [redirect], application_type: 'native' });
      await signsIn(await App.described(deployment, client_id), redirect);
    }
  });

  it('clients that request a secret are registered, but without a secret', async () => {
    const asked = { ...GEMINI, token_endpoint_auth_method: 'client_secret_post' };
    const answer = await register(asked);
    assert.equal(answer['token_endpoint_auth_method'], 'none');
    assert.equal(answer['client_secret'], undefined);
  });

  it('registering a client again returns its first client id, even with another local port', async () => {
    const at = (port: number) => ({ ...GEMINI, redirect_uris: [`http://localhost:${port}/oauth/callback`] });
    const [one, other] = [await register(at(38349)), await register(at(45963))];
    assert.equal(one.client_id, other.client_id);
    assert.deepEqual(other.redirect_uris, ['http://localhost:45963/oauth/callback']);
    const elsewhere = { ...GEMINI, redirect_uris: ['http://localhost:38349/other'] };
    assert.notEqual((await register(elsewhere)).client_id, one.client_id);
    const ids = await Promise.all([1, 2, 3].map(async () => (await register(CURSOR)).client_id));
    assert.equal(new Set(ids).size, 1);
  });

  it('mcp-remote can append a slash or a workspace to the resource address', async () => {
    const { client_id } = await register({ redirect_uris: ['http://localhost:9696/oauth/callback'] });
    const app = await App.described(deployment, client_id);
    for (const resource of [`${deployment.mcp}/`, `${deployment.mcp}?workspace=default`]) {
      const started = await app.begin({ redirect_uri: 'http://localhost:9696/oauth/callback', resource });
      const back = await new Visitor().allow(started.url, ada);
      assert.ok(back.searchParams.get('code'));
    }
  });

  it('the conformance suite signs in without a resource and without a scope', async () => {
    const { client_id } = await register({ redirect_uris: ['http://127.0.0.1:3000/callback'] });
    const app = await App.described(deployment, client_id);
    const redirect = 'http://127.0.0.1:3000/callback';
    const started = await app.begin({ redirect_uri: redirect, resource: undefined, scope: undefined });
    const visitor = new Visitor();
    const page = await visitor.settings(started.url);
    const back = locationIn((await visitor.decide(page, await visitor.identify(page, ada))).text);
    assert.ok((await app.redeem(back, started, redirect)).access_token);
  });
});
