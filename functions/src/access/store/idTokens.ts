/** Firebase ID tokens: of agents, which are signed in, and of people, which are checked. */

import type { App } from 'firebase-admin/app';
import { z } from 'zod';
import { connectionError, MusterError, quotaExceeded } from '../../kernel/errors.ts';
import { BoundedMap } from '../../kernel/memoCache.ts';
import { type Clock, type PortOf, Service } from '../../kernel/ports.ts';
import { inTime } from '../../kernel/waiting.ts';
import { expired, notAccepted } from '../rules/authentication.ts';
import { type Caller, type Principal, ROLES } from '../rules/principal.ts';

const PRODUCTION = 'https://identitytoolkit.googleapis.com';

const TIMEOUT_MILLISECONDS = 10_000;

/** The emulator wants some key, but no particular one. */
const EMULATOR_KEY = 'emulator';

const signedIn = z.object({
  idToken: z.string(),
  /** Seconds. */
  expiresIn: z.string().regex(/^\d+$/).transform(Number),
});

const refusal = z.object({ error: z.object({ message: z.string() }) });

interface SignInPorts {
  readonly app: () => App;
  /** Of the project; the emulator needs none. */
  readonly webApiKey: string;
}

/**
 * Signs agents in: a custom token, exchanged for an ID token. Source:
 * https://cloud.google.com/identity-platform/docs/reference/rest/v1/accounts/signInWithCustomToken
 */
export class IdentityToolkitSignIn extends Service<SignInPorts> {
  /** Mints an ID token. @throws MusterError UNAUTHORIZED, FIREBASE_ERROR or QUOTA_EXCEEDED */
  async signIn(uid: string, claims: AgentClaims): Promise<z.output<typeof signedIn>> {
    const { base, key } = this.endpoint();
    const response = await exchange(base, key, await this.customToken(uid, claims));
    const body: unknown = await response.json().catch((error) => {
      throw connectionError(error);
    });
    if (!response.ok) throw refused(response.status, body);
    return signedIn.parse(body);
  }

  private async customToken(uid: string, claims: AgentClaims): Promise<string> {
    const { getAuth } = await import('firebase-admin/auth');
    try {
      return await getAuth(this.ports.app()).createCustomToken(uid, claims);
    } catch (error) {
      throw notSetUp(error);
    }
  }

  private endpoint(): { base: string; key: string } {
    const emulator = process.env['FIREBASE_AUTH_EMULATOR_HOST'];
    if (emulator) return { base: `http://${emulator}/identitytoolkit.googleapis.com`, key: EMULATOR_KEY };
    const { webApiKey: key } = this.ports;
    if (key === '') throw notSetUp('WEB_API_KEY is empty');
    return { base: PRODUCTION, key };
  }
}

async function exchange(base: string, key: string, customToken: string): Promise<Response> {
  try {
    return await fetch(`${base}/v1/accounts:signInWithCustomToken`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-goog-api-key': key },
      body: JSON.stringify({ token: customToken, returnSecureToken: true }),
      signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
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

/**
 * Muster puts `role` into ID tokens. A person without it may look but not touch. A token of `kind` agent
 * is one that Muster made for its own clients: it would come in as a person, past the agent's credential.
 */
const claims = z.object({
  uid: z.string(),
  auth_time: z.number(),
  role: z.enum(ROLES).catch('viewer'),
  kind: z.literal('person').optional(),
});

/**
 * How long an instance believes what it was told of an account. A credential that was checked is trusted for 5
 * seconds more, so that a person who is shut out is out within a minute.
 */
const BELIEVED_MILLISECONDS = 50_000;

const MAX_BELIEVED = 5000;

const ACCOUNT_MILLISECONDS = 5000;

interface Account {
  readonly isDisabled: boolean;
  /** Tokens of sign-ins before it are revoked; milliseconds of the epoch. */
  readonly validSince: number;
}

export class FirebaseIdTokenVerifier extends Service<{ readonly app: () => App; readonly clock: Clock }> {
  private readonly believed = new BoundedMap<string, { account: Promise<Account>; until: number }>(
    MAX_BELIEVED,
  );

  /**
   * A signature is good for an hour, whatever becomes of the account; so its account is looked at too. Source:
   * https://firebase.google.com/docs/auth/admin/verify-id-tokens and …/manage-sessions
   * @throws MusterError UNAUTHORIZED or TOKEN_EXPIRED; FIREBASE_ERROR where it is not known whether the account is good
   */
  async verify(idToken: string): Promise<Principal> {
    const { uid, auth_time: signedInAt, role } = await this.claimsOf(idToken);
    const { isDisabled, validSince } = await this.accountOf(uid);
    if (isDisabled || signedInAt * 1000 < validSince) throw notAccepted();
    return { uid, kind: 'person', ownerUid: uid, role };
  }

  /** Calls at the same time share one question. One that was not answered is asked again. */
  private accountOf(uid: string): Promise<Account> {
    const now = this.ports.clock.now().getTime();
    const known = this.believed.get(uid);
    if (known !== undefined && known.until > now) return known.account;
    const account = inTime(this.ask(uid), ACCOUNT_MILLISECONDS, 'Firebase Auth').catch((error: unknown) => {
      if (this.believed.get(uid)?.account === account) this.believed.delete(uid);
      throw error instanceof MusterError ? error : notKnown(error);
    });
    this.believed.set(uid, { account, until: now + BELIEVED_MILLISECONDS });
    return account;
  }

  private async ask(uid: string): Promise<Account> {
    const { getAuth } = await import('firebase-admin/auth');
    const { users } = await getAuth(this.ports.app()).getUsers([{ uid }]);
    const [user] = users;
    if (user === undefined) throw notAccepted();
    const { disabled: isDisabled, tokensValidAfterTime } = user;
    return { isDisabled, validSince: tokensValidAfterTime ? Date.parse(tokensValidAfterTime) : 0 };
  }

  private async claimsOf(idToken: string): Promise<z.output<typeof claims>> {
    const { getAuth } = await import('firebase-admin/auth');
    try {
      return claims.parse(await getAuth(this.ports.app()).verifyIdToken(idToken));
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      throw code === 'auth/id-token-expired' ? expired(error) : notAccepted(error);
    }
  }
}

function notKnown(cause: unknown): MusterError {
  return new MusterError('FIREBASE_ERROR', 'Firebase Auth does not say whether the account is still good.', {
    suggestion: 'Call again in a moment.',
    cause,
  });
}

export interface CallerToken {
  readonly idToken: string;
  /** What the token says, as rules see it in `request.auth.token` and `auth.token`. */
  readonly claims: Readonly<Record<string, unknown>>;
  readonly expiresAt: Date;
}

/** A custom token's claims, beside the uid. Rules read them. */
export type AgentClaims = Readonly<Record<'role' | 'kind' | 'agentId' | 'ownerUid', string>>;

/** A token this near its end is not given out any more: its receiver may use it for a while. */
export const TOKEN_MARGIN_MILLISECONDS = 300_000;

const MAX_KEPT = 1000;

const payload = z.record(z.string(), z.unknown());

const expiry = z.object({ exp: z.number() });

interface TokenPorts {
  readonly agents: PortOf<IdentityToolkitSignIn>;
  readonly clock: Clock;
}

/**
 * Firebase ID tokens of callers, for clients that run under the security rules. A person's credential is one; an
 * agent's is minted for its uid and claims, and kept until shortly before it expires. Source:
 * docs/semantics.md#who-may-do-what; https://firebase.google.com/docs/auth/admin/create-custom-tokens
 */
export class CachedCallerTokens extends Service<TokenPorts> {
  /** By uid and claims, the oldest first. One still being minted is shared by all who ask for it. */
  private readonly minted = new BoundedMap<string, Promise<CallerToken>>(MAX_KEPT);

  /** @throws MusterError UNAUTHORIZED, FIREBASE_ERROR or QUOTA_EXCEEDED */
  async of({ principal, credential }: Caller): Promise<CallerToken> {
    return principal.kind === 'person' ? personToken(credential) : this.agentToken(principal);
  }

  private async agentToken({ uid, role, kind, agentId, ownerUid }: Principal): Promise<CallerToken> {
    const claims: AgentClaims = { role, kind, agentId: agentId ?? uid, ownerUid };
    const key = JSON.stringify([uid, claims]);
    const kept = this.minted.get(key);
    if (kept !== undefined) {
      const token = await kept;
      const freshUntil = token.expiresAt.getTime() - TOKEN_MARGIN_MILLISECONDS;
      if (freshUntil > this.ports.clock.now().getTime()) return token;
      if (this.minted.get(key) === kept) this.minted.delete(key);
    }
    return this.minted.get(key) ?? this.mint(key, uid, claims);
  }

  private mint(key: string, uid: string, claims: AgentClaims): Promise<CallerToken> {
    const asked = this.ports.clock.now().getTime();
    const minting = this.ports.agents.signIn(uid, claims).then(({ idToken, expiresIn }) => ({
      idToken,
      claims: decoded(idToken),
      expiresAt: new Date(asked + expiresIn * 1000),
    }));
    this.minted.set(key, minting);
    minting.catch(() => {
      if (this.minted.get(key) === minting) this.minted.delete(key);
    });
    return minting;
  }
}

export type CallerTokens = PortOf<CachedCallerTokens>;

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
