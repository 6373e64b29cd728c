/**
 * Why and when sign-ins ended. A grant is deleted when it ends; for its owner, one record per agent keeps the latest
 * end. The record has the shape of a grant that opens nothing, so that earlier releases read it.
 */
import type { Change } from '../../kernel/commit.ts';
import type { Grant } from './grant.ts';

/**
 * `refresh_token_reused`: an old refresh token was used after its grace period. `code_replayed`: a code was redeemed
 * twice. `disconnected`: the app revoked its tokens. `revoked`: a person, an agent that leads or the operator revoked
 * the connection. `owner_lost_role`: the owner has no role, or the account is disabled. `replaced`: the app was signed
 * in at too many other places. `expired`: it was not used for 90 days, or is a year old.
 */
export const SIGN_IN_ENDS = [
  'refresh_token_reused',
  'code_replayed',
  'disconnected',
  'revoked',
  'owner_lost_role',
  'replaced',
  'expired',
] as const;

export type SignInEnd = (typeof SIGN_IN_ENDS)[number];

/** An end as it is stored: a later release may know other reasons. */
export interface StoredEnd {
  readonly reason: string;
  readonly at: Date;
}

const RECORD_MILLISECONDS = 30 * 24 * 60 * 60 * 1000;

/** Returns the change that ends a grant, with the record of its end. A grant that never had tokens leaves none. */
export function endingOf(grant: Grant, reason: SignInEnd, at: Date): Change {
  const { id, refreshHash } = grant;
  return { kind: 'endGrant', id, ...(refreshHash !== undefined && { record: recordOf(grant, reason, at) }) };
}

/** Returns why and when a sign-in ended; undefined if it has not, or if its record has expired. */
export function endOf({ end, refreshHash, expiresAt }: Grant, now: Date): StoredEnd | undefined {
  if (end !== undefined) return expiresAt > now ? end : undefined;
  return refreshHash !== undefined && expiresAt <= now ? { reason: 'expired', at: expiresAt } : undefined;
}

/** Its id is not that of a token, and nothing in it matches a secret. */
function recordOf({ refreshHash: _, ...grant }: Grant, reason: SignInEnd, at: Date): Grant {
  const expiresAt = new Date(at.getTime() + RECORD_MILLISECONDS);
  return {
    ...grant,
    id: `ended-${grant.agentId}`,
    expiresAt,
    endsAt: expiresAt,
    salt: '',
    code: { ...grant.code, hash: '', challenge: '', isRedeemed: true },
    rotated: 0,
    recentRotations: [],
    accessTokens: [],
    end: { reason, at },
  };
}
