import { isRecord } from './tree/json.ts';

/** Who is asking. */
export interface Caller {
  /** The emulators' all-powerful caller: rules do not apply. */
  readonly isOwner: boolean;
  /** What rules call `auth`. */
  readonly auth: object | null;
}

export const nobody: Caller = { isOwner: false, auth: null };
const owner: Caller = { isOwner: true, auth: null };

/** A caller whose `auth` somebody all-powerful has chosen. */
export function actingAs(auth: object | null): Caller {
  return { isOwner: false, auth };
}

/**
 * `undefined` for a token that cannot be read. As in Google's emulators no signature is checked.
 */
export function callerOf(token: string | null | undefined): Caller | undefined {
  if (!token) return nobody;
  if (token === 'owner') return owner;
  const claims = claimsOf(token);
  return claims && actingAs({ uid: uidOf(claims), provider: providerOf(claims), token: claims });
}

export function uidOf(claims: Record<string, unknown>): string | null {
  const uid = claims.user_id ?? claims.sub;
  return typeof uid === 'string' ? uid : null;
}

function providerOf(claims: Record<string, unknown>): unknown {
  const provider = isRecord(claims.firebase) ? claims.firebase.sign_in_provider : undefined;
  return provider ?? 'custom';
}

function claimsOf(token: string): Record<string, unknown> | undefined {
  const payload = token.split('.')[1];
  if (!payload) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
    return isRecord(claims) ? claims : undefined;
  } catch {
    return undefined;
  }
}
