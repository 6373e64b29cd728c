import { isRecord } from './tree/json.ts';

/** Caller of a request, as security rules see it. */
export interface Caller {
  /** Whether the caller is the emulators' admin. Rules do not apply to the admin. */
  readonly isOwner: boolean;
  /** Value of the variable `auth` in security rules. */
  readonly auth: object | null;
}

export const anonymous: Caller = { isOwner: false, auth: null };
const owner: Caller = { isOwner: true, auth: null };

/** Returns the caller whose `auth` an admin caller has set. */
export function actingAs(auth: object | null): Caller {
  return { isOwner: false, auth };
}

/** Returns `undefined` if the token is unreadable. Signatures are not verified, as in Google's emulators. */
export function callerOf(token: string | null | undefined): Caller | undefined {
  if (!token) return anonymous;
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
