/** Cost of signing in from an app. Also compares calls with an app's access token to calls with an API key. */
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { McpCaller } from '../load/client.ts';
import type { Cast, Ledger } from './costLedger.ts';

/** Public address of the function. */
export const ORIGIN = 'https://muster.example';
const REDIRECT = 'http://127.0.0.1:53682/callback';

/** Slightly longer than the time for which an instance caches a checked credential. */
const TRUSTED_MS = 5500;

type Form = Readonly<Record<string, string>>;

const registered = z.object({ client_id: z.string() });
const startedSignIn = z.object({ authorization: z.string() });
const proposed = z.looseObject({ approval: z.string(), toolsets: z.array(z.string()) });
const decided = z.object({ location: z.url() });
const tokens = z.object({ access_token: z.string(), refresh_token: z.string() });

export async function playSignIn(cast: Cast, ledger: Ledger): Promise<void> {
  const way = new SignInWay(cast, ledger);
  await way.get('/.well-known/oauth-authorization-server');
  await way.register('a new app');
  const client_id = await way.register('a known app');
  const { code, verifier } = await way.allow(client_id, 'a new agent');
  const redemption = { grant_type: 'authorization_code', client_id, code, code_verifier: verifier };
  const first = await way.token(redemption, 'redeems a code');
  const refreshed = { grant_type: 'refresh_token', client_id, refresh_token: first.refresh_token };
  const { access_token, refresh_token } = await way.token(refreshed, 'redeems a refresh token');
  await way.token(refreshed, 'redeems a refresh token that was used just before');
  await compareChecks(cast, ledger, access_token);
  await way.allow(client_id, 'a known agent');
  await way.form('/revoke', { token: refresh_token }, '');
}

/** Compares the costs of checking a credential that is not cached. The called tool itself costs nothing. */
async function compareChecks({ url, leader }: Cast, ledger: Ledger, accessToken: string): Promise<void> {
  const app = new McpCaller(url, accessToken);
  const call = (caller: McpCaller) => caller.call('access.explain', { tool: 'coordination.heartbeat' });
  await Promise.all([call(leader), call(app)]);
  await delay(TRUSTED_MS);
  const what = 'Authorization: Bearer';
  const byKey = await ledger.whole(what, 'the check of an API key', () => call(leader));
  const byToken = await ledger.whole(what, 'the check of an access token', () => call(app));
  for (const each of ['reads', 'writes', 'deletes'] as const)
    if (byToken[each] > byKey[each])
      ledger.fault(`an access token costs ${byToken[each]} ${each} per check, but an API key ${byKey[each]} ${each}`);
}

/** Sends the requests that an app and the person's browser send during a sign-in. */
class SignInWay {
  private readonly cast: Cast;
  private readonly ledger: Ledger;

  constructor(cast: Cast, ledger: Ledger) {
    this.cast = cast;
    this.ledger = ledger;
  }

  async get(path: string): Promise<void> {
    await this.booked(path, '', { method: 'GET' });
  }

  async register(situation: string): Promise<string> {
    const metadata = { client_name: 'App', redirect_uris: [REDIRECT] };
    const { text } = await this.json('/register', metadata, situation);
    return registered.parse(JSON.parse(text)).client_id;
  }

  /** Signs in and returns the code: opens the page, signs the person in, and accepts. */
  async allow(clientId: string, situation: string): Promise<{ code: string; verifier: string }> {
    const verifier = randomBytes(32).toString('base64url');
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: REDIRECT,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    });
    const page = await this.booked(`/authorize?${query}`, '', { method: 'GET' });
    const [, settings = ''] = /<script [^>]*id="settings">(.*?)<\/script>/s.exec(page.text) ?? [];
    const { authorization } = startedSignIn.parse(JSON.parse(settings));
    const browser = { cookie: page.cookie, origin: ORIGIN };
    const person = { authorization, idToken: this.cast.invitedToken };
    const { text } = await this.json('/authorize/person', person, '', browser);
    const { approval, ...chosen } = proposed.parse(JSON.parse(text));
    const decision = { authorization, approval, allow: true, ...chosen };
    const whole = { ...decision, agentName: 'App', role: 'worker', workspace: null, readonly: false };
    const answer = await this.json('/authorize/decision', whole, situation, browser);
    const { location } = decided.parse(JSON.parse(answer.text));
    return { code: new URL(location).searchParams.get('code') ?? '', verifier };
  }

  async token(form: Form, situation: string): Promise<z.output<typeof tokens>> {
    return tokens.parse(JSON.parse((await this.form('/token', form, situation)).text));
  }

  form(path: string, form: Form, situation: string) {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return this.booked(path, situation, { method: 'POST', headers, body: new URLSearchParams(form) });
  }

  private json(path: string, body: object, situation: string, headers: Form = {}) {
    const all = { 'content-type': 'application/json', ...headers };
    return this.booked(path, situation, { method: 'POST', headers: all, body: JSON.stringify(body) });
  }

  private async booked(
    path: string,
    situation: string,
    request: RequestInit & { readonly method: string },
  ): Promise<{ readonly text: string; readonly cookie: string }> {
    let answer = { text: '', cookie: '' };
    const url = new URL(path, this.cast.url);
    const name = `${request.method} ${url.pathname}`;
    await this.ledger.whole(name, situation, async () => {
      const response = await fetch(url, request);
      const text = await response.text();
      if (!response.ok) throw new Error(`${name}: HTTP ${response.status}: ${text.slice(0, 500)}`);
      answer = { text, cookie: response.headers.get('set-cookie')?.split(';', 1)[0] ?? '' };
    });
    return answer;
  }
}
