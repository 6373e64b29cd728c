/**
 * Grants. A grant is the access of a connected app, with its tokens, which are opaque and stored as hashes. Source:
 * docs/decisions/0032-signing-in.md; OAuth 2.1 (draft-ietf-oauth-v2-1), sections 1.3 and 4; RFC 9700, section 4.14.
 */
import { z } from 'zod/mini';
import type { ChangeOf } from '../../kernel/commit.ts';
import { documentCodec, timestamp } from '../../kernel/documentCodec.ts';
import { DAY_MS, type Hashing, SECOND_MS } from '../../kernel/ports.ts';

export type Grant = ReturnType<typeof grantFromDocument>;

export interface GrantChanges {
  readonly createGrant: { readonly grant: Grant };
  readonly replaceGrant: {
    readonly grant: Grant;
    readonly version: string;
    /** Set if the person chose new limits. All credentials registered through the grant must then be read again. */
    readonly opensOther?: true;
  };
  /** Ends the grant and its tokens. The commit is stale if the grant has already ended. */
  readonly endGrant: {
    readonly id: string;
    /** Record of the ended sign-in, for the owner. It replaces the agent's previous record. */
    readonly record?: Grant;
  };
}

export const CODE_TTL_MS = 60 * SECOND_MS;
const ACCESS_TOKEN_TTL_MS = 60 * 60 * SECOND_MS;
const MAX_IDLE_MS = 90 * DAY_MS;
export const MAX_GRANT_TTL_MS = 365 * DAY_MS;

/** Time for which a used refresh token still works, because processes share tokens. Source: RFC 9700, 4.14.2. */
const ROTATION_GRACE_MS = 60 * SECOND_MS;

/** Maximum number of refreshes in the grace period, and of valid access tokens. Clients refresh once an hour. */
const MAX_CONCURRENT_TOKENS = 20;

/** Maximum number of refreshes of one grant: two per hour for a year, rounded up. */
const MAX_ROTATIONS = 20_000;
const PREFIXES = { code: 'mc_', access: 'ma_', refresh: 'mr_' } as const;
export type TokenKind = keyof typeof PREFIXES;
const FORM = /^(m[car]_)([a-z2-7]{20})\.([A-Za-z0-9_-]{20,100})$/;

/** Maximum number of grants per agent. Each connection of an app is one grant. */
export const MAX_GRANTS = 10;

/** Length of a grant's id. The id is a part of the tokens and is not shown anywhere. */
export const GRANT_LETTERS = 20;

export interface PresentedToken {
  readonly grantId: string;
  readonly secret: string;
}

export function parseToken(kind: TokenKind, token: string): PresentedToken | undefined {
  const [, prefix, grantId, secret] = FORM.exec(token) ?? [];
  if (prefix !== PREFIXES[kind] || grantId === undefined || secret === undefined) return undefined;
  return { grantId, secret };
}

export function tokenOf(kind: TokenKind, { grantId, secret }: PresentedToken): string {
  return `${PREFIXES[kind]}${grantId}.${secret}`;
}

export interface Tokens {
  readonly accessToken: string;
  /** Lifetime of the access token, in seconds. */
  readonly expiresIn: number;
  readonly refreshToken: string;
}

/** Returns whether the app has received tokens and can still refresh them. */
export function isConnected({ refresh_hash, expires_at }: Grant, now: Date): boolean {
  return refresh_hash !== undefined && expires_at > now;
}

/** Returns whether an access token of a grant is valid, expired or unknown. */
export function accessTokenStatus(
  hashing: Hashing,
  grant: Grant,
  secret: string,
  now: Date,
): 'good' | 'expired' | 'unknown' {
  const hash = hashing.sha256(secret);
  const found = grant.access_tokens.find((token) => hashing.equal(token.hash, hash));
  if (found === undefined) return 'unknown';
  return found.expires_at > now && grant.expires_at > now ? 'good' : 'expired';
}

/** Result of redeeming a code. `replayed`: the code was redeemed before, so it may have been stolen. */
export type Redemption =
  | { readonly outcome: 'redeemed'; readonly grant: Grant; readonly tokens: Tokens }
  | { readonly outcome: 'replayed' }
  | { readonly outcome: 'refused' };

/**
 * Redeems the authorization code of a grant.
 * @param presented `verifier`: PKCE verifier that matches the request's challenge (RFC 7636, S256); `fresh`: new
 * secret, from which all later secrets are derived
 */
export function redemptionOf(
  hashing: Hashing,
  grant: Grant,
  presented: { readonly secret: string; readonly verifier: string; readonly fresh: string },
  now: Date,
): Redemption {
  const { code } = grant;
  const { secret, verifier, fresh } = presented;
  if (!hashing.equal(code.hash, hashing.sha256(secret))) return { outcome: 'refused' };
  if (code.is_redeemed) return { outcome: 'replayed' };
  if (code.expires_at <= now || challengeOf(hashing, verifier) !== code.challenge) return { outcome: 'refused' };
  const redeemed = { ...grant, code: { ...code, is_redeemed: true } };
  return { outcome: 'redeemed', ...withTokens(hashing, redeemed, fresh, now) };
}

/** Returns the PKCE challenge of a verifier. Source: RFC 7636, section 4.2. */
export function challengeOf(hashing: Hashing, verifier: string): string {
  return Buffer.from(hashing.sha256(verifier), 'hex').toString('base64url');
}

/** `repeated`: a used token in its grace period; gets the newest tokens. `reused`: used later; treated as stolen. */
export type Refresh =
  | { readonly outcome: 'rotated'; readonly grant: Grant; readonly tokens: Tokens }
  | { readonly outcome: 'repeated'; readonly tokens: Tokens }
  | { readonly outcome: 'reused' }
  | { readonly outcome: 'refused' };

export function refreshOf(hashing: Hashing, grant: Grant, secret: string, now: Date): Refresh {
  if (grant.expires_at <= now) return { outcome: 'refused' };
  const age = ageOf(hashing, grant, secret);
  if (age === undefined) return { outcome: 'refused' };
  if (age === 0) {
    const successor = successorOf(hashing, grant, secret);
    if (grant.rotated >= MAX_ROTATIONS) return { outcome: 'refused' };
    const recent = [...grant.recent_rotations.filter(isRecent(now)), now].slice(-MAX_CONCURRENT_TOKENS);
    const rotated = { ...grant, rotated: grant.rotated + 1, recent_rotations: recent };
    return { outcome: 'rotated', ...withTokens(hashing, rotated, successor, now) };
  }
  const used = grant.recent_rotations.at(-age);
  // So many refreshes happened that this token's time of use is unknown. It is refused, but not treated as stolen.
  if (used === undefined && isBusy(grant, now)) return { outcome: 'refused' };
  if (used === undefined || !isRecent(now)(used)) return { outcome: 'reused' };
  // Return the newest tokens, because processes that share a sign-in store them. Others would soon count as reused.
  let newest = secret;
  for (let count = 0; count < age; count++) newest = successorOf(hashing, grant, newest);
  const tokens = tokensOf(hashing, grant, newest);
  const access = accessSecretOf(hashing, grant, newest);
  const expiresAt = grant.access_tokens.find(({ hash }) => hash === hashing.sha256(access))?.expires_at ?? now;
  return { outcome: 'repeated', tokens: { ...tokens, expiresIn: secondsFrom(now, expiresAt) } };
}

/** Returns whether a token was issued for the grant. The token may be used or expired. */
export function isTokenOf(hashing: Hashing, grant: Grant, kind: TokenKind, secret: string): boolean {
  if (kind === 'refresh') return ageOf(hashing, grant, secret) !== undefined;
  const hash = hashing.sha256(secret);
  const hashes = kind === 'code' ? [grant.code.hash] : grant.access_tokens.map((token) => token.hash);
  return hashes.some((known) => hashing.equal(known, hash));
}

function isBusy({ recent_rotations }: Grant, now: Date): boolean {
  return recent_rotations.length >= MAX_CONCURRENT_TOKENS && recent_rotations.every(isRecent(now));
}

const isRecent = (now: Date) => (at: Date) => now.getTime() - at.getTime() < ROTATION_GRACE_MS;

/** Returns how many refreshes ago a refresh token was the newest; undefined if the grant never had the token. */
function ageOf(hashing: Hashing, grant: Grant, secret: string): number | undefined {
  const { refresh_hash, rotated } = grant;
  if (refresh_hash === undefined) return undefined;
  let one = secret;
  for (let age = 0; age <= rotated; age++) {
    if (hashing.equal(hashing.sha256(one), refresh_hash)) return age;
    one = successorOf(hashing, grant, one);
  }
  return undefined;
}

function successorOf(hashing: Hashing, { salt }: Grant, secret: string): string {
  return hashing.hmac(salt, `refresh\n${secret}`);
}

function accessSecretOf(hashing: Hashing, { salt }: Grant, refreshSecret: string): string {
  return hashing.hmac(salt, `access\n${refreshSecret}`);
}

function tokensOf(hashing: Hashing, grant: Grant, refreshSecret: string): Omit<Tokens, 'expiresIn'> {
  const access = accessSecretOf(hashing, grant, refreshSecret);
  return {
    accessToken: tokenOf('access', { grantId: grant.id, secret: access }),
    refreshToken: tokenOf('refresh', { grantId: grant.id, secret: refreshSecret }),
  };
}

/** Returns the grant with new tokens. Earlier access tokens stay valid until they expire. */
function withTokens(hashing: Hashing, grant: Grant, refreshSecret: string, now: Date) {
  const end = grant.ends_at.getTime();
  const expiresAt = new Date(Math.min(now.getTime() + MAX_IDLE_MS, end));
  const accessExpiresAt = new Date(Math.min(now.getTime() + ACCESS_TOKEN_TTL_MS, end));
  const fresh = { hash: hashing.sha256(accessSecretOf(hashing, grant, refreshSecret)), expires_at: accessExpiresAt };
  const live = grant.access_tokens.filter((token) => token.expires_at > now);
  return {
    grant: {
      ...grant,
      refresh_hash: hashing.sha256(refreshSecret),
      access_tokens: [...live, fresh].slice(-MAX_CONCURRENT_TOKENS),
      used_at: now,
      expires_at: expiresAt,
    },
    tokens: { ...tokensOf(hashing, grant, refreshSecret), expiresIn: secondsFrom(now, accessExpiresAt) },
  };
}

function secondsFrom(now: Date, end: Date): number {
  return Math.max(0, Math.floor((end.getTime() - now.getTime()) / SECOND_MS));
}

/** Document `grants/{id}`: the access of a connected app. Tokens are stored only as hashes. */
export const { toDocument: grantToDocument, fromDocument: grantFromDocument } = documentCodec(
  z.object({
    id: z.string(),
    owner_uid: z.string(),
    /** Id of the agent that represents the app. */
    agent_id: z.string(),
    client_id: z.string(),
    client_name: z.string(),
    /** Host of the document that describes the app; null if the app registered on its own. */
    client_host: z.nullable(z.string()),
    /** URL for which the tokens are valid. They are also valid for all paths below the URL. */
    resource: z.string(),
    /** Toolsets that the app may use; null for all toolsets. */
    toolsets: z.nullable(z.array(z.string())),
    /** The only workspace that the app may use; null for all workspaces of its owner. */
    held_to: z.nullable(z.string()),
    readonly: z.nullable(z.literal(true)),
    created_at: timestamp,
    /** Time at which tokens were last issued. */
    used_at: timestamp,
    /** Time at which the grant expires if it is not used again. */
    expires_at: timestamp,
    /** Time at which the grant expires even if it is used. */
    ends_at: timestamp,
    /** Key with which the next tokens are derived from the current tokens. */
    salt: z.string(),
    code: z.object({
      hash: z.string(),
      /** PKCE challenge of the method S256 (RFC 7636). */
      challenge: z.string(),
      redirect_uri: z.string(),
      expires_at: timestamp,
      is_redeemed: z.boolean(),
    }),
    /** Hash of the current refresh token; null until the code is redeemed. */
    refresh_hash: z.nullable(z.string()),
    /** Number of refresh tokens that were used before the current one. */
    rotated: z.int(),
    recent_rotations: z.array(timestamp),
    access_tokens: z.array(z.object({ hash: z.string(), expires_at: timestamp })),
    /** Why and when the sign-in ended; present only in records of ended sign-ins. */
    end: z.exactOptional(z.object({ reason: z.string(), at: timestamp })),
  }),
);

// Reasons for the end of a sign-in. A grant is deleted when it ends. One record per agent keeps the latest end, to
// show it to the owner. The record is stored as a grant without access, so that earlier releases can read it.

/**
 * `refresh_token_reused`: an old refresh token was used after its grace period. `code_replayed`: a code was redeemed
 * twice. `disconnected`: the app revoked its tokens. `revoked`: a person, an agent that is a leader, or the operator
 * revoked the connection. `owner_lost_role`: the owner has no role, or the owner's account is disabled. `replaced`:
 * the app had too many other connections. `expired`: the grant was not used for 90 days, or is a year old.
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

/** End of a sign-in as stored. A later release may have stored a reason that this release does not know. */
export type StoredSignInEnd = NonNullable<Grant['end']>;

const ENDED_RECORD_TTL_MS = 30 * DAY_MS;

/** Returns the change that ends a grant and records the end. The end of a grant without tokens is not recorded. */
export function endingOf(grant: Grant, reason: SignInEnd, at: Date): ChangeOf<GrantChanges> {
  const { id, refresh_hash } = grant;
  return { kind: 'endGrant', id, ...(refresh_hash !== undefined && { record: endedRecordOf(grant, reason, at) }) };
}

/** Returns why and when a sign-in ended; undefined if the sign-in is active or the record of its end has expired. */
export function endOf({ end, refresh_hash, expires_at }: Grant, now: Date): StoredSignInEnd | undefined {
  if (end !== undefined) return expires_at > now ? end : undefined;
  return refresh_hash !== undefined && expires_at <= now ? { reason: 'expired', at: expires_at } : undefined;
}

/** Returns the record of an ended grant. Its id is in no token, and its hashes match no secret. */
function endedRecordOf({ refresh_hash: _, ...grant }: Grant, reason: SignInEnd, at: Date): Grant {
  const expiresAt = new Date(at.getTime() + ENDED_RECORD_TTL_MS);
  return {
    ...grant,
    id: `ended-${grant.agent_id}`,
    expires_at: expiresAt,
    ends_at: expiresAt,
    salt: '',
    code: { ...grant.code, hash: '', challenge: '', is_redeemed: true },
    rotated: 0,
    recent_rotations: [],
    access_tokens: [],
    end: { reason, at },
  };
}
