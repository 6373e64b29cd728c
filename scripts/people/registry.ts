/** Actions of operators on people: their deployment roles, workspace memberships and accounts. */
import { type Ended, isAnything } from '../../functions/src/access/rules/revocation.ts';
import { compose } from '../../functions/src/composition/compose.ts';
import { externalServices } from '../../functions/src/composition/externalServices.ts';
import type { EndedWork } from '../../functions/src/composition/triggerHandlers.ts';
import { type Person, personFromDocument } from '../../functions/src/identity/rules/people.ts';
import { accessOf, type PersonRoles, personsRoleIn } from '../../functions/src/identity/rules/principal.ts';
import { MEMBER_ROLES, type MemberRole, type Role } from '../../functions/src/identity/rules/role.ts';
import { firestore } from '../../functions/src/kernel/firestore/client.ts';
import { COLLECTIONS, MEMBERS, workspacePath } from '../../functions/src/kernel/firestore/paths.ts';
import { systemClock } from '../../functions/src/kernel/platform.ts';
import { type Account, accounts, authentication, claimRole, findAccount } from '../operator/accounts.ts';
import { pagesOf, readable } from '../operator/documents.ts';

const { services, access, kernel } = compose(externalServices());

/** Stored as the person who gave a role, if an operator's command gave the role. */
const ADDED_BY = 'operator';

/** Person with an account, stored access, or both. */
export interface Known {
  readonly uid: string;
  readonly account: Account | undefined;
  readonly person: Person | undefined;
}

/** Yields all people, those with accounts first. @param onUnreadable called with the path of each unreadable document */
export async function* allPeople(onUnreadable: (path: string) => void): AsyncGenerator<Known, void, undefined> {
  const stored = new Map<string, Person>();
  for await (const page of pagesOf(firestore().collection(COLLECTIONS.people)))
    for (const { snapshot, value } of readable(page, personFromDocument, onUnreadable)) stored.set(snapshot.id, value);
  for await (const account of accounts()) {
    yield { uid: account.uid, account, person: stored.get(account.uid) };
    stored.delete(account.uid);
  }
  for (const [uid, person] of stored) yield { uid, account: undefined, person };
}

/** @throws Error if no person has that uid or address */
export async function find(who: string, lookup?: { readonly unverified: boolean }): Promise<Known> {
  const found = await known(who, lookup);
  if (found !== undefined) return found;
  throw new Error(
    `Unknown person "${who}": no account, no role and no agent. List people with npm run people -- list.`,
  );
}

/** Like `find`, but returns undefined for an unknown person. */
export async function known(who: string, lookup?: { readonly unverified: boolean }): Promise<Known | undefined> {
  const account = await findAccount(who, lookup);
  const uid = account?.uid ?? who;
  const person = await access.ports.people.find(uid);
  const isKnown = account !== undefined || person !== undefined || (await agentsOf(uid)).length > 0;
  return isKnown ? { uid, account, person } : undefined;
}

/** Returns a person's roles. */
export async function rolesOf({ account, person }: Known): Promise<PersonRoles> {
  const role = person?.role ?? account?.role;
  const { workspaces = {} } = person ?? {};
  const known = await access.ports.people.workspaces();
  return { workspaces, access: known, ...(role !== undefined && role !== 'none' && { role }) };
}

/** Returns a person's role in a workspace. */
export async function roleIn(known: Known, workspace: string): Promise<Role | undefined> {
  return personsRoleIn(await rolesOf(known), workspace);
}

/** Returns the ids of the agents that a person owns. */
export async function agentsOf(uid: string): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const page of pagesOf(firestore().collection(COLLECTIONS.agents).where('owner_uid', '==', uid)))
    ids.push(...page.map(({ id }) => id));
  return ids;
}

/**
 * Stores the role, which the endpoint and the databases' rules check, and copies it to the account's claims.
 * @returns the previous role
 */
export async function setRole(known: Known, role: Role | 'none'): Promise<Role | 'none'> {
  await kernel.store.commit([{ kind: 'setPerson', uid: known.uid, role }]);
  if (known.account !== undefined) await claimRole(known.uid, role);
  return known.person?.role ?? known.account?.role ?? 'none';
}

/** @throws Error if the workspace does not exist */
export async function add({ uid }: Known, workspace: string, role: MemberRole): Promise<void> {
  if (accessOf(await access.ports.people.workspaces(), workspace) === undefined)
    throw new Error(`Workspace "${workspace}" not found. An admin of the deployment must create it first.`);
  const member = { uid, workspace, role, added_by: ADDED_BY, added_at: systemClock.now() };
  await kernel.store.commit([{ kind: 'setMember', member }]);
}

/** @throws Error if the person is not a member of the workspace */
export async function remove({ uid, person }: Known, workspace: string): Promise<void> {
  const isMember = Object.hasOwn(person?.workspaces ?? {}, workspace);
  if (!isMember && (await access.ports.people.member(workspace, uid)) === undefined)
    throw new Error(`${uid} is not a member of the workspace "${workspace}".`);
  await kernel.store.commit([{ kind: 'removeMember', workspace, uid }]);
}

/** Returns whether a workspace has a leader. */
export async function isLed(workspace: string): Promise<boolean> {
  const members = firestore().doc(workspacePath(workspace)).collection(MEMBERS);
  const { empty } = await members.where('role', '==', MEMBER_ROLES.at(-1)).limit(1).get();
  return !empty;
}

export interface Revoked {
  readonly workspaces: readonly string[];
  readonly agents: readonly string[];
  /** Agents, invitations and requests of those agents, which were revoked or cancelled too. */
  readonly ended: Omit<Ended, 'credentials'>;
  /** Numbers of the person's tasks, runs and questions that were cancelled. */
  readonly work: EndedWork;
}

/** Removes all access of a person, but keeps the account unchanged. */
export async function revoke(known: Known): Promise<Revoked> {
  const { uid, account, person } = known;
  await setRole(known, 'none');
  const validSince = Math.floor(systemClock.now().getTime() / 1000);
  await kernel.store.commit([{ kind: 'limitAccount', uid, validSince, isNews: true }]);
  const workspaces = Object.keys(person?.workspaces ?? {});
  for (const workspace of workspaces) await kernel.store.commit([{ kind: 'removeMember', workspace, uid }]);
  const agents: string[] = [];
  const all: Ended[] = [];
  for (const id of await agentsOf(uid)) {
    const ended = await services.revocation.revoke(id);
    if (isAnything(ended)) agents.push(id);
    all.push(ended);
  }
  const ended = {
    agents: all.flatMap((one) => one.agents),
    invitations: all.flatMap(({ invitations }) => invitations),
    requests: all.flatMap(({ requests }) => requests),
  };
  if (account !== undefined) await (await authentication()).revokeRefreshTokens(uid);
  // A trigger also cancels this work. It is cancelled here too, because the report needs the counts.
  const work = await services.leaving.end(uid);
  return { workspaces, agents, ended, work };
}

/**
 * Creates an account without a password.
 * @returns the link with which the person chooses a password; undefined if the project does not allow passwords
 */
export async function create(email: string, name: string | undefined): Promise<[Known, string | undefined]> {
  const auth = await authentication();
  const { uid } = await auth
    .createUser({ email, ...(name !== undefined && { displayName: name }) })
    .catch(async (error: unknown) => {
      // If someone has registered the address without verifying it, this throws an error with an explanation.
      await findAccount(email);
      throw error;
    });
  const link = await auth.generatePasswordResetLink(email).catch(() => undefined);
  const account = await findAccount(uid);
  return [{ uid, account, person: undefined }, link];
}
