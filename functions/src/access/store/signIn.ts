/**
 * Signs agents in: a custom token, exchanged for an ID token. Source:
 * https://cloud.google.com/identity-platform/docs/reference/rest/v1/accounts/signInWithCustomToken
 */

import type { App } from 'firebase-admin/app';
import { z } from 'zod';
import { connectionError, MusterError, quotaExceeded } from '../../kernel/errors.ts';
import { BoundedMap } from '../../kernel/memoCache.ts';
import type { Clock } from '../../kernel/ports.ts';
import {
  type Caller,
  expired,
  type IdTokenVerifier,
  notAccepted,
  type Principal,
  ROLES,
} from '../rules/principal.ts';
import { Accounts } from './accounts.ts';

const PRODUCTION = 'https://identitytoolkit.googleapis.com';

const PATIENCE_MILLISECONDS = 10_000;

/** The emulator wants some key, but no particular one. */
const EMULATOR_KEY = 'emulator';

const signedIn = z.object({
  idToken: z.string(),
  expiresIn: z.string().regex(/^\d+$/).transform(Number),
});

const refusal = z.object({ error: z.object({ message: z.string() }) });

export class IdentityToolkitSignIn implements AgentSignIn {
  private readonly app: () => App;
  private readonly webApiKey: string;

  /** @param webApiKey of the project; the emulator needs none */
  constructor(app: () => App, webApiKey: string) {
    this.app = app;
    this.webApiKey = webApiKey;
  }

  async signIn(uid: string, claims: AgentClaims): Promise<{ idToken: string; secondsLeft: number }> {
    const { base, key } = this.endpoint();
    const response = await exchange(base, key, await this.customToken(uid, claims));
    const body: unknown = await response.json().catch((error) => {
      throw connectionError(error);
    });
    if (!response.ok) throw refused(response.status, body);
    const { idToken, expiresIn } = signedIn.parse(body);
    return { idToken, secondsLeft: expiresIn };
  }

  private async customToken(uid: string, claims: AgentClaims): Promise<string> {
    const { getAuth } = await import('firebase-admin/auth');
    try {
      return await getAuth(this.app()).createCustomToken(uid, claims);
    } catch (error) {
      throw notSetUp(error);
    }
  }

  private endpoint(): { base: string; key: string } {
    const emulator = process.env['FIREBASE_AUTH_EMULATOR_HOST'];
    if (emulator) return { base: `http://${emulator}/identitytoolkit.googleapis.com`, key: EMULATOR_KEY };
    if (this.webApiKey === '') throw notSetUp('WEB_API_KEY is empty');
    return { base: PRODUCTION, key: this.webApiKey };
  }
}

async function exchange(base: string, key: string, customToken: string): Promise<Response> {
  try {
    return await fetch(`${base}/v1/accounts:signInWithCustomToken`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-goog-api-key': key },
      body: JSON.stringify({ token: customToken, returnSecureToken: true }),
      signal: AbortSignal.timeout(PATIENCE_MILLISECONDS),
    });
  } catch (error) {
    throw connectionError(error);
  }
}

function refused(status: number, body: unknown): MusterError {
  const parsed = refusal.safeParse(body);
  const cause = parsed.success ? parsed.data.error.message : `HTTP ${status}`;
  if (cause.startsWith('USER_DISABLED')) return notAccepted(cause);
  if (status === 429) return quotaExceeded(cause);
  return status >= 500 ? connectionError(cause) : notSetUp(cause);
}

/** Something that only who runs the deployment can mend; the cause is in the log. */
function notSetUp(cause: unknown): MusterError {
  return new MusterError('FIREBASE_ERROR', 'This deployment cannot sign agents in to its databases.', {
    reason: 'NOT_SET_UP',
    suggestion: 'Whoever runs it: docs/guides/deploy.md, "Agents and the security rules".',
    cause,
  });
}

// Firebase ID tokens of people. Source: https://firebase.google.com/docs/auth/admin/verify-id-tokens

/**
 * What Muster puts into an ID token: `role`. A person without it may look but not touch. A token of `kind` agent
 * is one that Muster made for its own clients: it would come in as a person, past the agent's credential.
 */
const claims = z.object({
  uid: z.string(),
  auth_time: z.number(),
  role: z.enum(ROLES).catch('viewer'),
  kind: z.literal('person').optional(),
});

export class FirebaseIdTokenVerifier implements IdTokenVerifier {
  private readonly app: () => App;
  private readonly accounts: Accounts;

  constructor(app: () => App, clock: Clock) {
    this.app = app;
    this.accounts = new Accounts(app, clock);
  }

  /** A signature is good for an hour, whatever becomes of the account; so its account is looked at too. */
  async verify(idToken: string): Promise<Principal> {
    const { uid, auth_time: signedInAt, role } = await this.claimsOf(idToken);
    await this.accounts.requireGood(uid, signedInAt * 1000);
    return { uid, kind: 'person', ownerUid: uid, role };
  }

  private async claimsOf(idToken: string): Promise<z.output<typeof claims>> {
    const { getAuth } = await import('firebase-admin/auth');
    try {
      return claims.parse(await getAuth(this.app()).verifyIdToken(idToken));
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      throw code === 'auth/id-token-expired' ? expired(error) : notAccepted(error);
    }
  }
}

// Firebase ID tokens of callers, for clients that run under the security rules. A person's credential is
// one; an agent's is minted for its uid and claims, and kept until shortly before it expires. Source:
// docs/semantics.md#who-may-do-what; https://firebase.google.com/docs/auth/admin/create-custom-tokens

export interface CallerToken {
  readonly idToken: string;
  /** What the token says, as rules see it in `request.auth.token` and `auth.token`. */
  readonly claims: Readonly<Record<string, unknown>>;
  readonly expiresAt: Date;
}

export interface CallerTokens {
  /** @throws MusterError UNAUTHORIZED, FIREBASE_ERROR or QUOTA_EXCEEDED */
  of(caller: Caller): Promise<CallerToken>;
}

/** A custom token's claims, beside the uid. Rules read them. */
export type AgentClaims = Readonly<Record<'role' | 'kind' | 'agentId' | 'ownerUid', string>>;

export interface AgentSignIn {
  /** Mints an ID token. @throws MusterError as CallerTokens */
  signIn(uid: string, claims: AgentClaims): Promise<{ idToken: string; secondsLeft: number }>;
}

/** A token this near its end is not given out any more: whoever gets one may use it for a while. */
export const TOKEN_MARGIN_MILLISECONDS = 300_000;

const MAX_KEPT = 1000;

const payload = z.record(z.string(), z.unknown());

const expiry = z.object({ exp: z.number() });

export class CachedCallerTokens implements CallerTokens {
  private readonly agents: AgentSignIn;
  private readonly clock: Clock;
  /** By uid and claims, the oldest first. One still being minted is shared by all who ask for it. */
  private readonly minted = new BoundedMap<string, Promise<CallerToken>>(MAX_KEPT);

  constructor(agents: AgentSignIn, clock: Clock) {
    this.agents = agents;
    this.clock = clock;
  }

  async of({ principal, credential }: Caller): Promise<CallerToken> {
    return principal.kind === 'person' ? personToken(credential) : this.agentToken(principal);
  }

  private async agentToken(principal: Principal): Promise<CallerToken> {
    const claims = claimsOf(principal);
    const key = JSON.stringify([principal.uid, claims]);
    const kept = this.minted.get(key);
    if (kept !== undefined) {
      const token = await kept;
      const freshUntil = token.expiresAt.getTime() - TOKEN_MARGIN_MILLISECONDS;
      if (freshUntil > this.clock.now().getTime()) return token;
      if (this.minted.get(key) === kept) this.minted.delete(key);
    }
    return this.minted.get(key) ?? this.mint(key, principal.uid, claims);
  }

  private mint(key: string, uid: string, claims: AgentClaims): Promise<CallerToken> {
    const minting = this.signIn(uid, claims);
    this.minted.set(key, minting);
    minting.catch(() => {
      if (this.minted.get(key) === minting) this.minted.delete(key);
    });
    return minting;
  }

  private async signIn(uid: string, claims: AgentClaims): Promise<CallerToken> {
    const asked = this.clock.now().getTime();
    const { idToken, secondsLeft } = await this.agents.signIn(uid, claims);
    return { idToken, claims: decoded(idToken), expiresAt: new Date(asked + secondsLeft * 1000) };
  }
}

function claimsOf({ uid, role, kind, agentId, ownerUid }: Principal): AgentClaims {
  return { role, kind, agentId: agentId ?? uid, ownerUid };
}

/** Already checked when the caller was authenticated. */
function personToken(idToken: string): CallerToken {
  const claims = decoded(idToken);
  const { exp } = expiry.parse(claims);
  return { idToken, claims, expiresAt: new Date(exp * 1000) };
}

function decoded(idToken: string): Readonly<Record<string, unknown>> {
  const [, body = ''] = idToken.split('.');
  try {
    return payload.parse(JSON.parse(Buffer.from(body, 'base64url').toString('utf8')));
  } catch {
    throw notAccepted(); // without its cause, which may quote the token
  }
}
