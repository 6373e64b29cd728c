/** People's ID tokens and accounts in Firebase Auth, and the roles that follow from them. */
import type { App } from 'firebase-admin/app';
import type { UserIdentifier, UserRecord } from 'firebase-admin/auth';
import { z } from 'zod';
import { withTimeout } from '../../kernel/concurrency.ts';
import { MusterError } from '../../kernel/errors.ts';
import { BoundedMap } from '../../kernel/memoCache.ts';
import { type Clock, Service } from '../../kernel/ports.ts';
import { expiredCredential, invalidCredential } from '../rules/credential.ts';
import { isSuspended } from '../rules/people.ts';
import type {
  AccountStatus,
  IdentityPorts,
  IdTokenVerifier,
  KnownAccount,
  Profile,
  RolesOfPeople,
  SignedInPerson,
} from '../rules/ports.ts';
import type { PersonRoles } from '../rules/principal.ts';
import { ROLES, type Role } from '../rules/role.ts';

/** `role` is the deployment role. Tokens with `kind` agent are refused, because Muster issues them to agents. */
const claims = z.object({
  uid: z.string(),
  auth_time: z.number(),
  role: z.enum(ROLES).optional().catch(undefined),
  kind: z.literal('person').optional(),
  email: z.string().optional().catch(undefined),
  email_verified: z.boolean().optional().catch(undefined),
});

/** Lifetime of a cached account. With the 5 seconds of the credential cache, changes apply in less than a minute. */
const ROLE_CACHE_TTL_MS = 50_000;
const MAX_CACHED_ROLES = 5000;
const ACCOUNT_TIMEOUT_MS = 5000;

interface Account extends KnownAccount {
  /** Role in the current claims of the account. The claims in a token can be up to an hour old. */
  readonly role: Role | undefined;
}

/** Maximum number of accounts in one request to Firebase Auth. */
export const MAX_PROFILES = 100;

export class FirebaseIdTokenVerifier
  extends Service<{ readonly app: () => App; readonly clock: Clock }>
  implements IdTokenVerifier
{
  private readonly cachedRoles = new BoundedMap<string, { account: Promise<Account | undefined>; until: number }>(
    MAX_CACHED_ROLES,
  );

  async verify(idToken: string): Promise<SignedInPerson> {
    const { uid, auth_time: signedInAt, role, email, email_verified } = await this.claimsOf(idToken);
    const account = await this.accountOf(uid);
    if (account === undefined || account.isDisabled || signedInAt < account.validSince) throw invalidCredential();
    return { uid, signedInAt, role, ...(email_verified && { email: email?.toLowerCase() }) };
  }

  async roleOf(uid: string): Promise<Role | undefined> {
    const account = await this.accountOf(uid);
    return account?.isDisabled ? undefined : account?.role;
  }

  async verifyRecent(idToken: string, seconds: number): Promise<SignedInPerson> {
    const { uid, auth_time: signedInAt } = await this.claimsOf(idToken);
    if (signedInAt * 1000 < this.ports.clock.now().getTime() - seconds * 1000) throw expiredCredential();
    this.cachedRoles.delete(uid);
    return this.verify(idToken);
  }

  async isValid(uid: string): Promise<boolean> {
    return (await this.accountOf(uid))?.isDisabled === false;
  }

  async profiles(uids: readonly string[]): Promise<ReadonlyMap<string, Profile>> {
    if (uids.length === 0) return new Map();
    const users = await this.users(uids.slice(0, MAX_PROFILES).map((uid) => ({ uid })));
    return new Map(
      users.map(({ uid, displayName: name, email }) => [uid, { ...(name && { name }), ...(email && { email }) }]),
    );
  }

  async states(uids: readonly string[]): Promise<ReadonlyMap<string, KnownAccount> | undefined> {
    const users = await this.users(uids.map((uid) => ({ uid }))).catch((error: unknown) => {
      if (isWithoutAccounts(error)) return undefined;
      throw error;
    });
    return users && new Map(users.map((user) => [user.uid, accountIn(user)]));
  }

  async uidOf(email: string): Promise<string | undefined> {
    return (await this.users([{ email }])).find(({ emailVerified }) => emailVerified)?.uid;
  }

  private async users(identifiers: UserIdentifier[]) {
    const asked = import('firebase-admin/auth').then(({ getAuth }) => getAuth(this.ports.app()).getUsers(identifiers));
    const { users } = await withTimeout(asked, ACCOUNT_TIMEOUT_MS, 'Firebase Auth').catch((error: unknown) => {
      throw unknownAccount(error);
    });
    return users;
  }

  /** Returns an account, from the cache if possible. Concurrent calls share one request. Failures are not cached. */
  private accountOf(uid: string): Promise<Account | undefined> {
    const now = this.ports.clock.now().getTime();
    const known = this.cachedRoles.get(uid);
    if (known !== undefined && known.until > now) return known.account;
    const account = this.users([{ uid }]).then(
      ([user]) => user && accountIn(user),
      (error: unknown) => {
        if (this.cachedRoles.get(uid)?.account === account) this.cachedRoles.delete(uid);
        throw error;
      },
    );
    this.cachedRoles.set(uid, { account, until: now + ROLE_CACHE_TTL_MS });
    return account;
  }

  private async claimsOf(idToken: string): Promise<z.output<typeof claims>> {
    const { getAuth } = await import('firebase-admin/auth');
    try {
      return claims.parse(await getAuth(this.ports.app()).verifyIdToken(idToken));
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      throw code === 'auth/id-token-expired' ? expiredCredential(error) : invalidCredential(error);
    }
  }
}

function accountIn({ disabled, metadata, tokensValidAfterTime, customClaims }: UserRecord): Account {
  return {
    isDisabled: disabled,
    role: z.enum(ROLES).safeParse(customClaims?.['role']).data,
    createdAt: secondsOf(metadata.creationTime),
    validSince: secondsOf(tokensValidAfterTime),
  };
}

function secondsOf(time: string | undefined): number {
  return time ? Math.floor(Date.parse(time) / 1000) : 0;
}

function isWithoutAccounts(error: unknown): boolean {
  const cause = error instanceof MusterError ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && cause.code === 'auth/configuration-not-found';
}

function unknownAccount(cause: unknown): MusterError {
  return new MusterError('FIREBASE_ERROR', "Firebase Auth did not confirm the account's status.", {
    suggestion: 'Retry in a moment.',
    cause,
  });
}

export class PersonRoleReader extends Service<Pick<IdentityPorts, 'people' | 'idTokens'>> implements RolesOfPeople {
  async of(uid: string, claimed?: () => Promise<Role | undefined>): Promise<PersonRoles & AccountStatus> {
    const { people, idTokens } = this.ports;
    const { person, access, asking } = await people.findWithDeployment(uid);
    if (claimed === undefined && isSuspended(person?.account)) return { workspaces: {}, access, asking, isOut: true };
    const role = person?.role ?? (await (claimed ?? (() => idTokens.roleOf(uid)))());
    const { workspaces = {}, valid_since } = person ?? {};
    const isClaimed = person?.role === undefined && { isClaimed: true as const };
    return {
      workspaces,
      access,
      asking,
      ...(role !== undefined && role !== 'none' && { role }),
      ...isClaimed,
      ...(valid_since !== undefined && { validSince: valid_since }),
    };
  }
}
