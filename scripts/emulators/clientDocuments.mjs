// @ts-check
/**
 * Serves copies of well-known clients' client ID metadata documents on this machine, so that people can sign in from
 * these clients without internet access. A deployment reads the documents that the vendors publish.
 *
 * Each copy has every member that Muster reads, as the vendor published it at the address `client_id` in September
 * 2026: https://github.com/anthropics/claude-code/issues/42301, https://github.com/microsoft/vscode/issues/298300,
 * https://github.com/openstatusHQ/openstatus/pull/2733. The client_id of Claude Code is also in its package
 * (@anthropic-ai/claude-code 2.1.197), and that of Codex in its source (codex-rs/rmcp-client,
 * oauth_client_registration.rs), for servers that send `iss`, as Muster does. ChatGPT's document for such servers:
 * https://developers.openai.com/plugins/build/auth. Cursor and Gemini CLI publish no document, but register.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { host } from './ports.mjs';

const codeFlow = { grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] };

export const clientDocuments = [
  {
    client_id: 'https://claude.ai/oauth/claude-code-client-metadata',
    client_name: 'Claude Code',
    client_uri: 'https://claude.ai',
    redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
    ...codeFlow,
    token_endpoint_auth_method: 'none',
  },
  {
    client_id: 'https://chatgpt.com/oauth/codex/client.json',
    client_name: 'Codex',
    application_type: 'native',
    redirect_uris: ['http://127.0.0.1/callback', 'http://localhost/callback'],
    ...codeFlow,
    token_endpoint_auth_method: 'none',
  },
  {
    client_id: 'https://chatgpt.com/oauth/client.json',
    client_name: 'ChatGPT',
    client_uri: 'https://chatgpt.com/',
    redirect_uris: ['https://chatgpt.com/connector_platform_oauth_redirect'],
    ...codeFlow,
    token_endpoint_auth_method: 'private_key_jwt',
    token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
    token_endpoint_auth_signing_alg: 'RS256',
    jwks_uri: 'https://chatgpt.com/oauth/jwks.json',
  },
  {
    client_id: 'https://vscode.dev/oauth/client-metadata.json',
    client_name: 'Visual Studio Code',
    client_uri: 'https://vscode.dev/product',
    application_type: 'native',
    redirect_uris: ['http://127.0.0.1:33418/', 'https://vscode.dev/redirect'],
    grant_types: [...codeFlow.grant_types, 'urn:ietf:params:oauth:grant-type:device_code'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  },
];

/**
 * Serves each document below a folder that is named after its host. Does not keep the process running.
 * @returns {Promise<string>} the server's URL
 */
export async function startClientDocuments() {
  const served = new Map(
    clientDocuments.map((document) => {
      const { host: vendor, pathname } = new URL(document.client_id);
      return [`/${vendor}${pathname}`, JSON.stringify(document)];
    }),
  );
  const server = createServer((request, response) => {
    const document = served.get(request.url ?? '');
    response.writeHead(document === undefined ? 404 : 200, { 'Content-Type': 'application/json' });
    response.end(document);
  });
  server.on('connection', (socket) => socket.unref());
  server.unref();
  server.listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server got no port');
  return `http://${host}:${address.port}`;
}
