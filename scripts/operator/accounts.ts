/** Accounts of people, as Firebase Auth has them. */
import type { Auth, UserRecord } from 'firebase-admin/auth';
import { z } from 'zod';
import { ROLES, type Role } from '../../functions/src/access/rules/principal.ts';
import { firebaseApp } from '../../functions/src/kernel/platform.ts';

export interface Account {
  readonly uid: string;
  readonly email?: string;
  readonly name?: string;
  readonly isDisabled: boolean;
  /** The role that its claims say. */
  readonly role?: Role;
}

/** Firebase Auth has a page of so many. */
const PAGE = 1000;

/** Agents sign in to the databases as themselves, which makes an account of each. */
const AGENT = 'agent:';

export async function authentication(): Promise<Auth> {
  const { getAuth } = await import('firebase-admin/auth');
  return getAuth(firebaseApp());
}

/** @param who a uid, or an address. Undefined where there is no such account, or the project has no Authentication. */
export async function findAccount(who: string): Promise<Account | undefined> {
  const found = await findUser(who);
  return found && accountOf(found);
}

/** The same with all that Firebase Auth has of it. */
export async function findUser(who: string): Promise<UserRecord | undefined> {
  const auth = await authentication();
  const found = await orUndefined(auth.getUser(who));
  if (found !== undefined || !who.includes('@')) return found;
  return orUndefined(auth.getUserByEmail(who));
}

/** All accounts of people. */
export async function* accounts(): AsyncGenerator<Account, void, undefined> {
  const auth = await authentication();
  let token: string | undefined;
  do {
    const page = await orUndefined(auth.listUsers(PAGE, token));
    for (const user of page?.users ?? []) if (!user.uid.startsWith(AGENT)) yield accountOf(user);
    token = page?.pageToken;
  } while (token !== undefined);
}

/** Leaves other claims as they are. Counts in ID tokens from the next one, within the hour. */
export async function claimRole(uid: string, role: Role | 'none'): Promise<void> {
  const auth = await authentication();
  const { customClaims } = await auth.getUser(uid);
  const { role: _former, ...others } = customClaims ?? {};
  await auth.setCustomUserClaims(uid, role === 'none' ? others : { ...others, role });
}

const NOBODY = [
  'auth/user-not-found',
  'auth/invalid-uid',
  'auth/invalid-email',
  'auth/configuration-not-found',
];

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
