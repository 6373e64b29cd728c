/**
 * Firebase ID tokens of callers, for clients that run under the security rules. A person's credential is one;
 * an agent's is minted for its uid and claims, and kept until shortly before it expires.
 * Source: docs/semantics.md#who-may-do-what; https://firebase.google.com/docs/auth/admin/create-custom-tokens
 */

import { z } from 'zod';
import { BoundedMap } from '../../kernel/boundedMap.ts';
import type { Clock } from '../../kernel/ports.ts';
import { notAccepted } from '../rules/authentication.ts';
import type { Caller, Principal } from '../rules/principal.ts';

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
