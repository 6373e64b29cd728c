// @ts-check
/**
 * Signs a person in at a hub with OAuth 2.1 and PKCE (docs/guides/sign-in.md). The page registers itself as a client,
 * and redirects to the hub's sign-in page, which redirects back with a code.
 */

/**
 * @typedef {object} Server authorization server metadata (RFC 8414)
 * @property {string} issuer
 * @property {string} authorization_endpoint
 * @property {string} token_endpoint
 * @property {string} registration_endpoint
 * @property {string} revocation_endpoint
 *
 * @typedef {object} Session state of the sign-in, stored until the tab is closed
 * @property {string} endpoint
 * @property {string} workspace
 * @property {Server} server
 * @property {string} clientId
 * @property {string} [accessToken]
 * @property {string} [refreshToken]
 * @property {{ verifier: string, state: string }} [begun] a sign-in that has not returned yet
 */

const KEY = 'muster-session';

/** Redirect URI: this page without query and fragment. */
const here = location.origin + location.pathname;

/** @returns {Session | undefined} */
export function session() {
  const kept = sessionStorage.getItem(KEY);
  return kept === null ? undefined : JSON.parse(kept);
}

/** @param {Session} next */
function keep(next) {
  sessionStorage.setItem(KEY, JSON.stringify(next));
}

/** Starts a sign-in and redirects to the hub. @param {string} endpoint @param {string} workspace */
export async function signIn(endpoint, workspace) {
  const server = await discovered(endpoint);
  const { client_id: clientId } = await asked(server.registration_endpoint, {
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ client_name: 'Tasks in a page', redirect_uris: [here], token_endpoint_auth_method: 'none' }),
  });
  const [verifier, state] = [randomText(), randomText()];
  keep({ endpoint, workspace, server, clientId, begun: { verifier, state } });
  const url = new URL(server.authorization_endpoint);
  url.search = String(
    new URLSearchParams({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: here,
      code_challenge: await challengeOf(verifier),
      code_challenge_method: 'S256',
      resource: endpoint,
      scope: 'muster:read muster:write',
      state,
    }),
  );
  location.assign(url);
}

/** Redeems the code if the hub has redirected back to this page. */
export async function comeBack() {
  const said = new URLSearchParams(location.search);
  const before = session();
  if (!said.has('state')) return;
  history.replaceState(null, '', here); // Removes the code, which can be used only once.
  const { begun, ...rest } = before ?? {};
  // Another site could redirect here with a code, so the code must be for the sign-in that this page started.
  if (begun === undefined || said.get('state') !== begun.state || said.get('iss') !== before?.server.issuer)
    throw new Error('This page did not start this sign-in. Sign in again.');
  const code = said.get('code');
  if (code === null) throw new Error(`Sign-in failed: ${said.get('error_description') ?? said.get('error')}`);
  await redeem(/** @type {Session} */ (rest), {
    grant_type: 'authorization_code',
    code,
    code_verifier: begun.verifier,
    redirect_uri: here,
  });
}

/** Gets a new access token, because access tokens expire after an hour. */
export async function refresh() {
  const before = session();
  if (before?.refreshToken === undefined) throw new Error('Sign in again.');
  await redeem(before, { grant_type: 'refresh_token', refresh_token: before.refreshToken });
}

/** Signs out of this page, and revokes its access at the hub. */
export async function signOut() {
  const before = session();
  sessionStorage.removeItem(KEY);
  if (before?.refreshToken === undefined) return;
  const body = new URLSearchParams({ token: before.refreshToken, client_id: before.clientId });
  await fetch(before.server.revocation_endpoint, { method: 'POST', body });
}

/** @param {Session} before @param {Record<string, string>} grant */
async function redeem(before, grant) {
  const body = new URLSearchParams({ ...grant, client_id: before.clientId, resource: before.endpoint });
  const { access_token: accessToken, refresh_token: refreshToken } = await asked(before.server.token_endpoint, {
    body,
  });
  keep({ ...before, accessToken, refreshToken });
}

/** Finds the server by the endpoint's 401 (RFC 9728). @param {string} endpoint @returns {Promise<Server>} */
async function discovered(endpoint) {
  const challenge = (await fetch(endpoint)).headers.get('WWW-Authenticate') ?? '';
  const [, about] = /resource_metadata="([^"]+)"/.exec(challenge) ?? [];
  if (about === undefined)
    throw new Error('Sign-in is not available at this address. Check the address, and whether sign-in is enabled.');
  const resource = await (await fetch(about)).json();
  const [issuer] = resource.authorization_servers;
  const server = await (await fetch(new URL('/.well-known/oauth-authorization-server', issuer))).json();
  if (resource.resource !== endpoint || server.issuer !== issuer)
    throw new Error(`${about} describes a different address.`);
  return server;
}

/** @param {string} url @param {RequestInit} request */
async function asked(url, request) {
  const response = await fetch(url, { method: 'POST', ...request });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error_description ?? answer.error);
  return answer;
}

/** Returns 32 random bytes in URL-safe base64. */
function randomText() {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

/** @param {string} verifier */
async function challengeOf(verifier) {
  return base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))));
}

/** @param {Uint8Array} bytes */
function base64url(bytes) {
  return btoa(String.fromCharCode(...bytes))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=/g, '');
}
