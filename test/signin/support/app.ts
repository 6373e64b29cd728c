/** An app that people sign in from. Its library `oauth4webapi` rejects responses that a client must not accept. */
import assert from 'node:assert/strict';
import * as oauth from 'oauth4webapi';
import { z } from 'zod';
import type { Deployment, Someone } from './deployment.ts';
import { Visitor, type Wishes } from './visitor.ts';

/** Allows requests without TLS. The tests send requests only to this machine. */
export const INSECURE = { [oauth.allowInsecureRequests]: true } as const;
export const REDIRECT = 'http://127.0.0.1:53682/callback';

export interface AppTokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly expires_in: number;
  readonly scope: string;
}

const tokens = z.object({
  access_token: z.string(),
  refresh_token: z.string(),
  expires_in: z.number(),
  scope: z.string(),
  token_type: z.string(),
});

/** A sign-in that an app has started but not completed. */
export interface Begun {
  readonly url: URL;
  readonly verifier: string;
  readonly state: string;
}

export class App {
  readonly server: oauth.AuthorizationServer;
  readonly client: oauth.Client;
  readonly resource: string;
  private readonly redirect: string;

  private constructor(server: oauth.AuthorizationServer, clientId: string, resource: string, redirect = REDIRECT) {
    this.redirect = redirect;
    this.server = server;
    this.client = { client_id: clientId };
    this.resource = resource;
  }

  /** Discovers the endpoints from the challenge, registers an app, and returns it. */
  static async registered(deployment: Deployment, name = 'Test App', below = '', redirect = REDIRECT): Promise<App> {
    const server = await discovered(`${deployment.mcp}${below}`);
    const metadata = { client_name: name, redirect_uris: [redirect], token_endpoint_auth_method: 'none' };
    const response = await oauth.dynamicClientRegistrationRequest(server, metadata, INSECURE);
    const { client_id } = await oauth.processDynamicClientRegistrationResponse(response);
    return new App(server, client_id, `${deployment.mcp}${below}`, redirect);
  }

  /** Returns an app whose client document has this address. */
  static async described(deployment: Deployment, id: string): Promise<App> {
    return new App(await discovered(deployment.mcp), id, deployment.mcp);
  }

  async begin(more: Readonly<Record<string, string | undefined>> = {}): Promise<Begun> {
    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const parameters = {
      response_type: 'code',
      client_id: this.client.client_id,
      redirect_uri: this.redirect,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      scope: 'muster:read muster:write',
      resource: this.resource,
      state,
      ...more,
    };
    const url = new URL(this.server.authorization_endpoint ?? '');
    for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.set(name, value);
    return { url, verifier, state };
  }

  /** Exchanges the code of the redirect for tokens. Like a correct client, it first compares state and issuer. */
  async redeem(back: URL, { verifier, state }: Begun, redirect = this.redirect): Promise<AppTokens> {
    const answer = oauth.validateAuthResponse(this.server, this.client, back, state);
    const response = await oauth.authorizationCodeGrantRequest(
      ...([this.server, this.client, oauth.None(), answer, redirect, verifier] as const),
      { ...INSECURE, additionalParameters: { resource: this.resource } },
    );
    return tokens.parse(await oauth.processAuthorizationCodeResponse(this.server, this.client, response));
  }

  async signIn(someone: Someone, wishes: Wishes = {}): Promise<AppTokens> {
    const started = await this.begin();
    return this.redeem(await new Visitor().allow(started.url, someone, wishes), started);
  }

  async refresh(refreshToken: string): Promise<AppTokens> {
    const request = oauth.refreshTokenGrantRequest(this.server, this.client, oauth.None(), refreshToken, {
      ...INSECURE,
      additionalParameters: { resource: this.resource },
    });
    return tokens.parse(await oauth.processRefreshTokenResponse(this.server, this.client, await request));
  }

  /** Calls the token endpoint with any parameters, including those that a library would not send. */
  async token(
    parameters: Readonly<Record<string, string>>,
  ): Promise<{ status: number; body: Record<string, unknown> }> {
    const body = new URLSearchParams(parameters);
    const response = await fetch(this.server.token_endpoint ?? '', { method: 'POST', body });
    return { status: response.status, body: z.record(z.string(), z.unknown()).parse(await response.json()) };
  }
}

/** Discovers the server as RFC 9728 describes: the 401 names the resource metadata, which names the server. */
async function discovered(resource: string): Promise<oauth.AuthorizationServer> {
  const challenged = await fetch(resource, { method: 'HEAD' });
  assert.equal(challenged.status, 401);
  const [, metadataUrl = ''] =
    /resource_metadata="([^"]+)"/.exec(challenged.headers.get('www-authenticate') ?? '') ?? [];
  const metadata = z
    .object({ resource: z.literal(resource), authorization_servers: z.tuple([z.string()]) })
    .parse(await (await fetch(metadataUrl)).json());
  const issuer = new URL(metadata.authorization_servers[0]);
  const response = await oauth.discoveryRequest(issuer, { ...INSECURE, algorithm: 'oauth2' });
  return oauth.processDiscoveryResponse(issuer, response);
}

/** Calls a tool over JSON-RPC with a credential. */
export async function call(deployment: Deployment, credential: string, method: string, params: object = {}) {
  const response = await fetch(`${deployment.mcp}/rpc`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${credential}` },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const body = z
    .object({ result: z.record(z.string(), z.unknown()).optional(), error: z.looseObject({}).optional() })
    .parse(await response.json());
  return { status: response.status, headers: response.headers, ...body };
}
