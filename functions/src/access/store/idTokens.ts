/** Firebase ID tokens of callers, which the security rules of the databases check. */
import type { App } from 'firebase-admin/app';
import { z } from 'zod';
import { invalidCredential } from '../../identity/rules/credential.ts';
import type { Caller, Principal } from '../../identity/rules/principal.ts';
import { connectionError, MusterError, quotaExceeded } from '../../kernel/errors.ts';
import { BoundedMap } from '../../kernel/memoCache.ts';
import { type Clock, type PortOf, Service } from '../../kernel/ports.ts';

const PRODUCTION = 'https://identitytoolkit.googleapis.com';
const TIMEOUT_MS = 10_000;

/** The emulator requires an API key, and accepts any. */
const EMULATOR_KEY = 'emulator';

const signedIn = z.object({
  idToken: z.string(),
  /** Lifetime in seconds. */
  expiresIn: z.string().regex(/^\d+$/).transform(Number),
});

const refusal = z.object({ error: z.object({ message: z.string() }) });

interface SignInPorts {
  readonly app: () => App;
  /** Web API key of the Firebase project; empty for the emulator. */
  readonly webApiKey: string;
}

/**
 * Signs in agents: exchanges a custom token for an ID token. Source:
 * https://cloud.google.com/identity-platform/docs/reference/rest/v1/accounts/signInWithCustomToken
 */
export class IdentityToolkitSignIn extends Service<SignInPorts> {
  /** Returns a new ID token. @throws MusterError UNAUTHORIZED, FIREBASE_ERROR or QUOTA_EXCEEDED */
  async signIn(uid: string, claims: AgentClaims): Promise<z.output<typeof signedIn>> {
    const { base, key } = this.endpoint();
    const unreachable = (error: unknown) => {
      throw connectionError(error);
    };
    const response = await fetch(`${base}/v1/accounts:signInWithCustomToken`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-goog-api-key': key },
      body: JSON.stringify({ token: await this.customToken(uid, claims), returnSecureToken: true }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch(unreachable);
    const body: unknown = await response.json().catch(unreachable);
    if (!response.ok) throw signInError(response.status, body);
    return signedIn.parse(body);
  }

  private async customToken(uid: string, claims: AgentClaims): Promise<string> {
    const { getAuth } = await import('firebase-admin/auth');
    try {
      return await getAuth(this.ports.app()).createCustomToken(uid, claims);
    } catch (error) {
      throw notConfigured(error);
    }
  }

  private endpoint(): { base: string; key: string } {
    const emulator = process.env['FIREBASE_AUTH_EMULATOR_HOST'];
    if (emulator) return { base: `http://${emulator}/identitytoolkit.googleapis.com`, key: EMULATOR_KEY };
    const { webApiKey: key } = this.ports;
    if (key === '') throw notConfigured('WEB_API_KEY is empty');
    return { base: PRODUCTION, key };
  }
}

function signInError(status: number, body: unknown): MusterError {
  const parsed = refusal.safeParse(body);
  const cause = parsed.success ? parsed.data.error.message : `HTTP ${status}`;
  if (cause.startsWith('USER_DISABLED')) return invalidCredential(cause);
  if (status === 429) return quotaExceeded(cause);
  return status >= 500 ? connectionError(cause) : notConfigured(cause);
}

/** Returns the error for a wrong configuration, which an operator must correct. The cause appears only in logs. */
function notConfigured(cause: unknown): MusterError {
  return new MusterError('FIREBASE_ERROR', 'This deployment cannot sign agents in to its databases.', {
    reason: 'NOT_SET_UP',
    suggestion: 'Operator: see docs/guides/deploy.md, "Agents and the security rules".',
    cause,
  });
}

export interface CallerToken {
  readonly idToken: string;
  /** Claims that security rules read as `request.auth.token` and `auth.token`. */
  readonly claims: Readonly<Record<string, unknown>>;
  readonly expiresAt: Date;
}

/** Claims of an agent's custom token, in addition to the uid. Security rules read them. */
export interface AgentClaims {
  readonly kind: string;
  readonly agentId: string;
  readonly ownerUid: string;
  /** Strongest role that the agent may have in any workspace. */
  readonly role: string;
  /** Deployment role of the owner. It counts if no role of the owner is stored. */
  readonly ownerRole: string;
  readonly heldTo?: string;
}

/** Minimum remaining lifetime of a returned token, in milliseconds, because its receiver may use it for a while. */
export const TOKEN_MARGIN_MS = 300_000;
const MAX_CACHED_TOKENS = 1000;
const payload = z.record(z.string(), z.unknown());
const expiry = z.object({ exp: z.number() });

interface TokenPorts {
  readonly agents: PortOf<IdentityToolkitSignIn>;
  readonly clock: Clock;
}

/**
 * ID tokens for clients to which the security rules apply. For a person, this is the ID token of the call. For an
 * agent, a token is created for its uid and claims, and cached until shortly before it expires. Source:
 * docs/semantics.md#permissions; https://firebase.google.com/docs/auth/admin/create-custom-tokens
 */
export class CachedCallerTokens extends Service<TokenPorts> {
  /** Tokens by uid and claims, oldest first. Concurrent requests for the same token share its creation. */
  private readonly tokens = new BoundedMap<string, Promise<CallerToken>>(MAX_CACHED_TOKENS);

  /** @throws MusterError UNAUTHORIZED, FIREBASE_ERROR or QUOTA_EXCEEDED */
  async of({ principal, credential }: Caller): Promise<CallerToken> {
    return principal.kind === 'person' ? personToken(credential) : this.agentToken(principal);
  }

  private async agentToken(principal: Principal): Promise<CallerToken> {
    const { uid } = principal;
    const claims = claimsOf(principal);
    const key = JSON.stringify([uid, claims]);
    const kept = this.tokens.get(key);
    if (kept !== undefined) {
      const token = await kept;
      const freshUntil = token.expiresAt.getTime() - TOKEN_MARGIN_MS;
      if (freshUntil > this.ports.clock.now().getTime()) return token;
      if (this.tokens.get(key) === kept) this.tokens.delete(key);
    }
    return this.tokens.get(key) ?? this.mint(key, uid, claims);
  }

  private mint(key: string, uid: string, claims: AgentClaims): Promise<CallerToken> {
    const asked = this.ports.clock.now().getTime();
    const minting = this.ports.agents
      .signIn(uid, claims)
      .then(({ idToken, expiresIn }) => ({
        idToken,
        claims: decoded(idToken),
        expiresAt: new Date(asked + expiresIn * 1000),
      }));
    this.tokens.set(key, minting);
    minting.catch(() => {
      if (this.tokens.get(key) === minting) this.tokens.delete(key);
    });
    return minting;
  }
}

/** Returns the token claims of an agent. */
export function claimsOf(principal: Principal): AgentClaims {
  const { kind, held_to: heldTo } = principal;
  return {
    kind,
    agentId: principal.agent_id ?? principal.uid,
    ownerUid: principal.owner_uid,
    role: principal.readonly ? 'viewer' : principal.maxRole,
    ownerRole: principal.owner.role ?? 'none',
    ...(heldTo !== undefined && { heldTo }),
  };
}

export type CallerTokens = PortOf<CachedCallerTokens>;

/** Authentication has already verified this ID token. */
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
    throw invalidCredential(); // The cause is omitted, because it may quote the token.
  }
}
