/** Sign-in metadata at every address at which clients request it. Source: docs/guides/sign-in.md. */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { z } from 'zod';
import { TOOLSETS } from '../../functions/src/identity/rules/principal.ts';
import { RESERVED } from '../../functions/src/signin/http/signIn.ts';
import { close, listen, portOf } from '../support/listening.ts';
import { Deployment } from './support/deployment.ts';

const PUBLIC = 'https://muster.example';
const FUNCTION = 'https://us-central1-demo.cloudfunctions.net/mcp';

describe('sign-in metadata', () => {
  let deployment: Deployment;
  let server: Server;

  before(async () => {
    deployment = await Deployment.start();
    const answer = deployment.front({ publicUrl: PUBLIC, functionUrl: FUNCTION });
    server = createServer((request, response) => void answer(request, response));
    await listen(server);
  });
  after(async () => {
    await deployment?.stop();
    await close(server);
  });

  /** Sends a request as Google's proxies do. At cloudfunctions.net, they remove the function's name from the path. */
  async function ask(url: string, method = 'GET', headers: Record<string, string> = {}) {
    const { host, pathname, search } = new URL(url);
    const path = host.endsWith('.cloudfunctions.net') ? pathname.replace(/^\/mcp/, '') || '/' : pathname;
    const sent = request({
      port: portOf(server),
      host: '127.0.0.1',
      method,
      path: `${path}${search}`,
      headers: { host, ...headers },
    });
    sent.end();
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      sent.once('response', resolve).once('error', reject);
    });
    let text = '';
    for await (const chunk of response) text += chunk;
    return { status: response.statusCode, headers: response.headers, text };
  }

  const json = async (url: string) => {
    const { status, headers, text } = await ask(url);
    assert.equal(status, 200, `${url}: ${text}`);
    assert.match(headers['content-type'] ?? '', /^application\/json/);
    assert.equal(headers['access-control-allow-origin'], '*');
    return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
  };

  const AT_ROOT = {
    issuer: PUBLIC,
    authorization_endpoint: `${PUBLIC}/authorize`,
    token_endpoint: `${PUBLIC}/token`,
    registration_endpoint: `${PUBLIC}/register`,
    revocation_endpoint: `${PUBLIC}/revoke`,
  };

  for (const below of ['', '/todo', '/network', '/rpc', '/todo/readonly', '/events'])
    it(`names /mcp${below} as its resource, and is linked in the 401 challenge of that URL`, async () => {
      for (const method of ['GET', 'HEAD', 'POST', 'DELETE', 'PUT']) {
        const sent = await ask(`${PUBLIC}/mcp${below}`, method, { 'content-type': 'application/json' });
        assert.equal(sent.status, 401, method);
        const named = `${PUBLIC}/.well-known/oauth-protected-resource/mcp${below}`;
        assert.equal(
          sent.headers['www-authenticate'],
          `Bearer realm="muster", resource_metadata="${named}", scope="muster:read muster:write"`,
        );
        assert.equal((await json(named))['resource'], `${PUBLIC}/mcp${below}`);
      }
    });

  it('of the authorization server is identical at every well-known address below the root', async () => {
    const { resource, authorization_servers } = await json(`${PUBLIC}/.well-known/oauth-protected-resource`);
    assert.deepEqual([resource, authorization_servers], [`${PUBLIC}/mcp`, [PUBLIC]]);
    const documents = await Promise.all(
      ['', '/mcp', '/mcp/todo'].map((path) => json(`${PUBLIC}/.well-known/oauth-authorization-server${path}`)),
    );
    for (const found of documents) assert.deepEqual(found, documents[0]);
    const [metadata = {}] = documents;
    for (const [name, value] of Object.entries(AT_ROOT)) assert.equal(metadata[name], value, name);
    assert.deepEqual(metadata['code_challenge_methods_supported'], ['S256']);
    assert.deepEqual(metadata['token_endpoint_auth_methods_supported'], ['none']);
    assert.equal(metadata['client_id_metadata_document_supported'], true);
    assert.equal(metadata['authorization_response_iss_parameter_supported'], true);
  });

  it("is also served below the function's own URL, and then names that URL as the issuer", async () => {
    const { status, headers } = await ask(`${FUNCTION}/todo`, 'HEAD');
    assert.equal(status, 401);
    const named = `${FUNCTION}/.well-known/oauth-protected-resource/todo`;
    assert.ok(headers['www-authenticate']?.includes(`resource_metadata="${named}"`));
    const { resource, authorization_servers } = await json(named);
    assert.deepEqual([resource, authorization_servers], [`${FUNCTION}/todo`, [FUNCTION]]);
    const openid = await json(`${FUNCTION}/.well-known/openid-configuration`);
    assert.equal(openid['issuer'], FUNCTION);
    assert.equal(openid['token_endpoint'], `${FUNCTION}/token`);
    for (const name of ['jwks_uri', 'subject_types_supported', 'id_token_signing_alg_values_supported'])
      assert.ok(openid[name], name);
    assert.deepEqual(JSON.parse((await ask(`${FUNCTION}/jwks`)).text), { keys: [] });
    const server = await json(`${FUNCTION}/.well-known/oauth-authorization-server`);
    assert.equal(server['issuer'], FUNCTION);
  });

  it('never contains an unknown host from the Host header of a request', async () => {
    const challenged = await ask('https://evil.example/mcp', 'HEAD');
    assert.ok(challenged.headers['www-authenticate']?.includes(`resource_metadata="${PUBLIC}/`));
    const found = await ask('https://evil.example/.well-known/oauth-authorization-server');
    assert.equal(JSON.parse(found.text).issuer, PUBLIC);
  });

  it('is not served at unknown addresses: they return the status 404 with JSON and no challenge', async () => {
    for (const path of [
      '/.well-known/openid-configuration',
      '/.well-known/openid-configuration/mcp',
      '/.well-known/nothing',
      '/.well-known/oauth-protected-resource/nothing',
      '/.well-known/oauth-protected-resource/mcp/nothing',
      '/.well-known',
      '/signin/nothing',
    ]) {
      const { status, headers, text } = await ask(`${PUBLIC}${path}`);
      assert.equal(status, 404, path);
      assert.equal(headers['www-authenticate'], undefined);
      assert.equal(JSON.parse(text).error, 'not_found');
    }
  });

  it('is served at paths that are not names of toolsets', () => {
    const names: readonly string[] = RESERVED;
    for (const toolset of TOOLSETS) assert.ok(!names.includes(toolset), toolset);
  });

  it('can be requested only with GET and HEAD, but from any origin', async () => {
    const url = `${PUBLIC}/.well-known/oauth-authorization-server`;
    const asked = await ask(url, 'OPTIONS', { origin: 'https://any.example', 'access-control-request-method': 'GET' });
    assert.deepEqual([asked.status, asked.headers['access-control-allow-origin']], [204, '*']);
    const posted = await ask(url, 'POST');
    assert.deepEqual([posted.status, posted.headers.allow], [405, 'GET']);
    const head = await ask(url, 'HEAD', { origin: 'https://any.example' });
    assert.deepEqual([head.status, head.text], [200, '']);
  });

  it('does not exist if the deployment has no public address', async () => {
    const closed = await Deployment.start();
    const answer = closed.front({ publicUrl: '', functionUrl: FUNCTION });
    const own = createServer((request, response) => void answer(request, response));
    const base = await listen(own);
    const challenged = await fetch(`${base}/mcp`, { method: 'HEAD' });
    assert.equal(challenged.headers.get('www-authenticate'), 'Bearer realm="muster"');
    for (const path of ['/.well-known/oauth-authorization-server', '/authorize', '/token', '/register'])
      assert.equal((await fetch(`${base}${path}`)).status, 404, path);
    await close(own);
    await closed.stop();
  });
});
