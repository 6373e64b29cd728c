/**
 * A grant: what an app may do that a person has signed in from, and the tokens by which it shows that. Tokens are
 * opaque and stored as hashes. Source: docs/decisions/0032-signing-in.md; OAuth 2.1 (draft-ietf-oauth-v2-1), sections
 * 1.3 and 4; RFC 9700, section 4.14.
 */
import { z } from 'zod/mini';
import type { ChangeOf } from '../../kernel/commit.ts';
import { documentCodec, timestamp } from '../../kernel/documentCodec.ts';
import type { Hashing } from '../../kernel/ports.ts';

type GrantChange = ChangeOf<GrantChanges>;

export type Grant = ReturnType<typeof grantFromDocument>;

export interface GrantChanges {
  readonly createGrant: { readonly grant: Grant };
  readonly replaceGrant: {
    readonly grant: Grant;
    readonly version: string;
    /** What it opens was chosen again: every key that was registered through it is looked up again. */
    readonly opensOther?: true;
  };
  /** Its tokens are good for nothing any more. Refused as stale where it has ended before. */
  readonly endGrant: {
    readonly id: string;
    /** Tells its owner why; replaces the record of an earlier sign-in of the same agent. */
    readonly record?: Grant;
  };
}

/** What clients may ask for. Which toolsets, role and workspace an app has, its person chooses. */
export const SCOPES = { read: 'muster:read', write: 'muster:write' } as const;

export const EVERY_SCOPE = `${SCOPES.read} ${SCOPES.write}`;

const SECOND = 1000;

const DAY = 24 * 60 * 60 * SECOND;

export const CODE_MILLISECONDS = 60 * SECOND;

const ACCESS_MILLISECONDS = 60 * 60 * SECOND;

const UNUSED_MILLISECONDS = 90 * DAY;

export const MOST_MILLISECONDS = 365 * DAY;

/** Processes share a refresh token: used again after this, it counts as stolen. Source: RFC 9700, section 4.14.2. */
const GRACE_MILLISECONDS = 60 * SECOND;

/** So many refreshes within the grace, and tokens at a time: clients refresh once an hour. */
const MOST_AT_ONCE = 20;

/** A client that refreshes twice an hour for a year has had so many. */
const MOST_ROTATIONS = 20_000;

const PREFIXES = { code: 'mc_', access: 'ma_', refresh: 'mr_' } as const;

export type TokenKind = keyof typeof PREFIXES;

const FORM = /^(m[car]_)([a-z2-7]{20})\.([A-Za-z0-9_-]{20,100})$/;

/** An agent has one for each place where its person has signed in, and no more than this. */
export const MAX_GRANTS = 10;

/** How many letters the id of a grant has. It is a part of its tokens and shown nowhere else. */
export const GRANT_LETTERS = 20;

export interface Presented {
  readonly grantId: string;
  readonly secret: string;
}

export function presentedIn(kind: TokenKind, token: string): Presented | undefined {
  const [, prefix, grantId, secret] = FORM.exec(token) ?? [];
  if (prefix !== PREFIXES[kind] || grantId === undefined || secret === undefined) return undefined;
  return { grantId, secret };
}

export function tokenOf(kind: TokenKind, { grantId, secret }: Presented): string {
  return `${PREFIXES[kind]}${grantId}.${secret}`;
}

/** What an app is given. */
export interface Tokens {
  readonly accessToken: string;
  /** In seconds. */
  readonly expiresIn: number;
  readonly refreshToken: string;
}

/** Whether its app has been given tokens, and may still have others. */
export function isConnected({ refresh_hash, expires_at }: Grant, now: Date): boolean {
  return refresh_hash !== undefined && expires_at > now;
}

/** Whether an access token is the grant's, and still good. */
export function accessBy(
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

/** What becomes of a code. `replayed`: it was redeemed before, so that one of the two who had it has stolen it. */
export type Redemption =
  | { readonly outcome: 'redeemed'; readonly grant: Grant; readonly tokens: Tokens }
  | { readonly outcome: 'replayed' }
  | { readonly outcome: 'refused' };

/**
 * Redeems the code of a grant.
 * @param presented `verifier`: of the challenge that the code was asked for with (RFC 7636, S256); `fresh`: a new secret,
 *   from which all later ones follow
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
  if (code.expires_at <= now || challengeOf(hashing, verifier) !== code.challenge)
    return { outcome: 'refused' };
  const redeemed = { ...grant, code: { ...code, is_redeemed: true } };
  return { outcome: 'redeemed', ...withTokens(hashing, redeemed, fresh, now) };
}

/** Source: RFC 7636, section 4.2. */
export function challengeOf(hashing: Hashing, verifier: string): string {
  return Buffer.from(hashing.sha256(verifier), 'hex').toString('base64url');
}

/** `repeated`: used a moment ago, so it gives the newest tokens. `reused`: used long ago, so somebody has stolen it. */
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
    if (grant.rotated >= MOST_ROTATIONS) return { outcome: 'refused' };
    const recent = [...grant.recent_rotations.filter(isRecent(now)), now].slice(-MOST_AT_ONCE);
    const rotated = { ...grant, rotated: grant.rotated + 1, recent_rotations: recent };
    return { outcome: 'rotated', ...withTokens(hashing, rotated, successor, now) };
  }
  const used = grant.recent_rotations.at(-age);
  // Too many rotations at once to know when this one was: not good, and no sign of theft.
  if (used === undefined && isBusy(grant, now)) return { outcome: 'refused' };
  if (used === undefined || !isRecent(now)(used)) return { outcome: 'reused' };
  // Processes that share a sign-in store what they get: an older successor would end the sign-in an hour later.
  let newest = secret;
  for (let count = 0; count < age; count++) newest = successorOf(hashing, grant, newest);
  const tokens = tokensOf(hashing, grant, newest);
  const access = accessSecretOf(hashing, grant, newest);
  const expiresAt =
    grant.access_tokens.find(({ hash }) => hash === hashing.sha256(access))?.expires_at ?? now;
  return { outcome: 'repeated', tokens: { ...tokens, expiresIn: secondsFrom(now, expiresAt) } };
}

/** Whether a token is the grant's, be it used or over. */
export function isTokenOf(hashing: Hashing, grant: Grant, kind: TokenKind, secret: string): boolean {
  if (kind === 'refresh') return ageOf(hashing, grant, secret) !== undefined;
  const hash = hashing.sha256(secret);
  const hashes = kind === 'code' ? [grant.code.hash] : grant.access_tokens.map((token) => token.hash);
  return hashes.some((known) => hashing.equal(known, hash));
}

function isBusy({ recent_rotations }: Grant, now: Date): boolean {
  return recent_rotations.length >= MOST_AT_ONCE && recent_rotations.every(isRecent(now));
}

const isRecent = (now: Date) => (at: Date) => now.getTime() - at.getTime() < GRACE_MILLISECONDS;

/** How many rotations ago a refresh token was the grant's, as the salt derives each from the last; undefined: never. */
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

/** Of the access token that goes with a refresh token. */
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

/** The grant with a new refresh token and its access token. Older access tokens are good until they expire. */
function withTokens(hashing: Hashing, grant: Grant, refreshSecret: string, now: Date) {
  const end = grant.ends_at.getTime();
  const expiresAt = new Date(Math.min(now.getTime() + UNUSED_MILLISECONDS, end));
  const accessExpiresAt = new Date(Math.min(now.getTime() + ACCESS_MILLISECONDS, end));
  const fresh = {
    hash: hashing.sha256(accessSecretOf(hashing, grant, refreshSecret)),
    expires_at: accessExpiresAt,
  };
  const live = grant.access_tokens.filter((token) => token.expires_at > now);
  return {
    grant: {
      ...grant,
      refresh_hash: hashing.sha256(refreshSecret),
      access_tokens: [...live, fresh].slice(-MOST_AT_ONCE),
      used_at: now,
      expires_at: expiresAt,
    },
    tokens: { ...tokensOf(hashing, grant, refreshSecret), expiresIn: secondsFrom(now, accessExpiresAt) },
  };
}

function secondsFrom(now: Date, end: Date): number {
  return Math.max(0, Math.floor((end.getTime() - now.getTime()) / SECOND));
}

/** What an app may do that somebody has signed in from: `grants/{id}`. No token is stored, only hashes. */
export const { toDocument: grantToDocument, fromDocument: grantFromDocument } = documentCodec(
  z.object({
    id: z.string(),
    owner_uid: z.string(),
    /** The agent that the app is. */
    agent_id: z.string(),
    client_id: z.string(),
    /** As the app calls itself. */
    client_name: z.string(),
    /** Whose document describes the app; null where it has registered itself. */
    client_host: z.nullable(z.string()),
    /** The address that its tokens are good for, and all below it. */
    resource: z.string(),
    /** The only toolsets that it may use; null for all. */
    toolsets: z.nullable(z.array(z.string())),
    /** The only workspace that it may use; null for all of its owner's. */
    held_to: z.nullable(z.string()),
    /** Whether it may change nothing. */
    readonly: z.nullable(z.literal(true)),
    created_at: timestamp,
    /** When it was last given tokens. */
    used_at: timestamp,
    /** When it ends unless it is used. */
    expires_at: timestamp,
    /** When it ends at the latest. */
    ends_at: timestamp,
    /** With the tokens, what their successors follow from. */
    salt: z.string(),
    code: z.object({
      hash: z.string(),
      /** The hash of what its client proves itself by: RFC 7636, S256. */
      challenge: z.string(),
      redirect_uri: z.string(),
      expires_at: timestamp,
      is_redeemed: z.boolean(),
    }),
    /** Null until the code is redeemed. */
    refresh_hash: z.nullable(z.string()),
    /** How many refresh tokens there were before. */
    rotated: z.int(),
    /** When the last of them were used. */
    recent_rotations: z.array(timestamp),
    access_tokens: z.array(z.object({ hash: z.string(), expires_at: timestamp })),
    /** If this is the record of a sign-in that ended: why and when. */
    end: z.exactOptional(z.object({ reason: z.string(), at: timestamp })),
  }),
);

// Why and when sign-ins ended. A grant is deleted when it ends; for its owner, one record per agent keeps the latest
// end. The record has the shape of a grant that opens nothing, so that earlier releases read it.

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
export function endingOf(grant: Grant, reason: SignInEnd, at: Date): GrantChange {
  const { id, refresh_hash } = grant;
  return { kind: 'endGrant', id, ...(refresh_hash !== undefined && { record: recordOf(grant, reason, at) }) };
}

/** Returns why and when a sign-in ended; undefined if it has not, or if its record has expired. */
export function endOf({ end, refresh_hash, expires_at }: Grant, now: Date): StoredEnd | undefined {
  if (end !== undefined) return expires_at > now ? end : undefined;
  return refresh_hash !== undefined && expires_at <= now ? { reason: 'expired', at: expires_at } : undefined;
}

/** Its id is not that of a token, and nothing in it matches a secret. */
function recordOf({ refresh_hash: _, ...grant }: Grant, reason: SignInEnd, at: Date): Grant {
  const expiresAt = new Date(at.getTime() + RECORD_MILLISECONDS);
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
