/** Accounts of people in Firebase Auth. */
import type { Auth, UserRecord } from 'firebase-admin/auth';
import { z } from 'zod';
import { ROLES, type Role } from '../../functions/src/identity/rules/role.ts';
import { firebaseApp } from '../../functions/src/kernel/realtime/database.ts';

export interface Account {
  readonly uid: string;
  readonly email?: string;
  readonly name?: string;
  readonly isDisabled: boolean;
  /** Role of the person in the claims of the account. */
  readonly role?: Role;
}

/** Number of accounts that Firebase Auth returns per page. */
const PAGE = 1000;

/** Prefix of the uids of agents. Agents have accounts, so that they can sign in to the databases as themselves. */
const AGENT = 'agent:';

export async function authentication(): Promise<Auth> {
  const { getAuth } = await import('firebase-admin/auth');
  return getAuth(firebaseApp());
}

/** How a person is found by an address. `unverified`: also if the account has not verified the address. */
interface Lookup {
  readonly unverified: boolean;
}

const VERIFIED: Lookup = { unverified: false };

/**
 * Returns the account with a uid or an email address; undefined if it does not exist or the project has no Authentication.
 * @throws Error if the account has not verified the address. Anyone can register an address that is not theirs
 */
export async function findAccount(who: string, lookup = VERIFIED): Promise<Account | undefined> {
  const found = await findUser(who, lookup);
  return found && accountOf(found);
}

/** Like `findAccount`, but returns everything that Firebase Auth stores about the account. */
export async function findUser(who: string, { unverified } = VERIFIED): Promise<UserRecord | undefined> {
  const auth = await authentication();
  const found = await orUndefined(auth.getUser(who));
  if (found !== undefined || !who.includes('@')) return found;
  const named = await orUndefined(auth.getUserByEmail(who.trim().toLowerCase()));
  if (named !== undefined && !named.emailVerified && !unverified) throw notVerified(who, named);
  return named;
}

function notVerified(address: string, { uid, metadata, providerData }: UserRecord): Error {
  const providers = providerData.map(({ providerId }) => providerId).join(', ') || 'no provider';
  return new Error(
    [
      `${address} is not verified. The account ${uid} registered it at ${metadata.creationTime} with ${providers}. The owner of this account may not own the address.`,
      'Invite the address instead (access.invite): only a person who has verified the address can accept.',
      `If you know that this account is the right one, use its uid instead of the address, or add --unverified.`,
    ].join('\n'),
  );
}

/** Yields all accounts of people. */
export async function* accounts(): AsyncGenerator<Account, void, undefined> {
  const auth = await authentication();
  let token: string | undefined;
  do {
    const page = await orUndefined(auth.listUsers(PAGE, token));
    for (const user of page?.users ?? []) if (!user.uid.startsWith(AGENT)) yield accountOf(user);
    token = page?.pageToken;
  } while (token !== undefined);
}

/** Sets the role and keeps other claims unchanged. The person's ID tokens contain the role within an hour. */
export async function claimRole(uid: string, role: Role | 'none'): Promise<void> {
  const auth = await authentication();
  const { customClaims } = await auth.getUser(uid);
  const { role: _former, ...others } = customClaims ?? {};
  await auth.setCustomUserClaims(uid, role === 'none' ? others : { ...others, role });
}

const NOBODY = ['auth/user-not-found', 'auth/invalid-uid', 'auth/invalid-email', 'auth/configuration-not-found'];

async function orUndefined<Found>(asked: Promise<Found>): Promise<Found | undefined> {
  try {
    return await asked;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (typeof code === 'string' && NOBODY.includes(code)) return undefined;
    throw error;
  }
}

function accountOf({ uid, email, displayName, disabled: isDisabled, customClaims }: UserRecord): Account {
  const { data: role } = z.enum(ROLES).safeParse(customClaims?.['role']);
  return {
    uid,
    isDisabled,
    ...(email !== undefined && { email }),
    ...(displayName !== undefined && { name: displayName }),
    ...(role !== undefined && { role }),
  };
}
