/** Who is asking: "owner", an unsigned/any JWT (signatures are not checked, as in the emulator suite), or nobody. */
import type { Who } from './rules.ts';

export const NOBODY: Who = { admin: false, auth: null };
export const OWNER: Who = { admin: true, auth: null };

/** `undefined` for a token that cannot be read. */
export function whoIs(token: string | null | undefined): Who | undefined {
  if (!token) return NOBODY;
  if (token === 'owner') return OWNER;
  const part = token.split('.')[1];
  if (!part) return undefined;
  try {
    const t = JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
    const provider = (t.firebase as { sign_in_provider?: unknown } | undefined)?.sign_in_provider ?? 'custom';
    return { admin: false, auth: { uid: (t.user_id ?? t.sub ?? null) as string | null, provider, token: t } };
  } catch { return undefined; }
}
