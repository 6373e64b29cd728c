/**
 * Copy of people and workspaces in the Realtime Database, at `access/people/{uid}` and `access/workspaces`, because
 * the security rules of that database cannot read Firestore. Events can be late, duplicated and out of order, so
 * their content is ignored. Instead, the current state is read and written, until it no longer changes.
 */
import type { Database } from 'firebase-admin/database';
import { isSuspended, type PeopleChanges, type Person } from '../../identity/rules/people.ts';
import type { PeopleQueries } from '../../identity/rules/ports.ts';
import { hasRole, ROLES, type Role } from '../../identity/rules/role.ts';
import type { AnyChange, ChangeOf } from '../../kernel/commit.ts';
import { withTimeout } from '../../kernel/concurrency.ts';
import { type Log, skipUnreadable } from '../../kernel/ports.ts';
import { ACCESS_WORKSPACES, personAccessPath } from '../../kernel/realtime/database.ts';

/** Maximum number of reads until the state stops changing. A few reads suffice even if changes are concurrent. */
const MAX_ATTEMPTS = 10;

export async function mirrorPerson(
  database: () => Promise<Database>,
  people: Pick<PeopleQueries, 'find'>,
  uid: string,
): Promise<void> {
  await mirror(await database(), personAccessPath(uid), () => personMirror(people, uid));
}

/** Returns the data to mirror for a person, as it is now; null if the person has no document. */
export async function personMirror(people: Pick<PeopleQueries, 'find'>, uid: string) {
  // A person whose document is unreadable has no access, even if their token claims a role.
  const stored = await skipUnreadable(people.find(uid).then((person) => ({ person })));
  if (stored === undefined) return mirrorOf({ role: 'none', workspaces: {} });
  return stored.person === undefined ? null : mirrorOf(stored.person);
}

export async function mirrorWorkspaces(
  database: () => Promise<Database>,
  people: Pick<PeopleQueries, 'workspaces'>,
): Promise<void> {
  await mirror(await database(), ACCESS_WORKSPACES, () => people.workspaces());
}

/** Maximum time for which a commit waits for the mirror, in milliseconds. */
const FOLLOW_MS = 2000;

interface FollowPorts {
  readonly database: () => Promise<Database>;
  readonly people: Pick<PeopleQueries, 'find' | 'workspaces'>;
  readonly log: Log;
}

/** Mirrors a commit before its response, so that no one else can write to a new workspace. Triggers mirror it too. */
export async function followChanges(
  { database, people, log }: FollowPorts,
  changes: readonly AnyChange[],
): Promise<void> {
  const uids = new Set(changes.filter(isOfPerson).map(uidOf));
  const isNamed = changes.some(({ kind }) => kind === 'nameWorkspace');
  if (uids.size === 0 && !isNamed) return;
  const follow = async () => {
    // Mirror leaders first. A new workspace that is mirrored before its leader would be closed to the leader.
    await Promise.all([...uids].map((uid) => mirrorPerson(database, people, uid)));
    if (isNamed) await mirrorWorkspaces(database, people);
  };
  await withTimeout(follow(), FOLLOW_MS, 'The mirror of access').catch((error: unknown) =>
    log.warn('access_not_mirrored', { error }),
  );
}

type PersonChange = ChangeOf<Pick<PeopleChanges, 'setPerson' | 'limitAccount' | 'removeMember' | 'setMember'>>;

function isOfPerson(change: AnyChange): change is PersonChange {
  return ['setPerson', 'limitAccount', 'removeMember', 'setMember'].some((kind) => kind === change.kind);
}

function uidOf(change: PersonChange): string {
  return change.kind === 'setMember' ? change.member.uid : change.uid;
}

async function mirror(database: Database, path: string, read: () => Promise<object | null>): Promise<void> {
  let before = await read();
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    await database.ref(path).set(before);
    const after = await read();
    if (JSON.stringify(after) === JSON.stringify(before)) return;
    before = after;
  }
  throw new Error(`${path} kept changing while it was mirrored.`);
}

/** A role with all roles that it includes, so that a security rule can check for the role that the rule requires. */
type IncludedRoles = Partial<Readonly<Record<Role | 'none', true>>>;

export function mirrorOf({ role, workspaces, valid_since, account }: Person) {
  const members = Object.entries(workspaces).sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    ...(role !== undefined && { role: included(role) }),
    workspaces: Object.fromEntries(members.map(([workspace, own]) => [workspace, included(own)])),
    ...(valid_since !== undefined && { valid_since }),
    // The agents of a person whose account is disabled or deleted have no access.
    ...(isSuspended(account) && { out: true }),
  };
}

function included(role: Role | 'none'): IncludedRoles {
  if (role === 'none') return { none: true };
  return Object.fromEntries(ROLES.filter((each) => hasRole(role, each)).map((each) => [each, true]));
}
