/**
 * What the rules of the Realtime Database know of people and workspaces, which they cannot read in Firestore:
 * `access/people/{uid}` and `access/workspaces`. Events come late, twice and out of order, so none is believed: what
 * there is is read, written, and read again until it has not changed meanwhile.
 */
import type { Database } from 'firebase-admin/database';
import { isOut, type PeopleChanges, type Person } from '../../identity/rules/people.ts';
import type { PeopleQueries } from '../../identity/rules/ports.ts';
import { hasRole, ROLES, type Role } from '../../identity/rules/role.ts';
import type { AnyChange, ChangeOf } from '../../kernel/commit.ts';
import { type Log, unlessUnreadable } from '../../kernel/ports.ts';
import { ACCESS_WORKSPACES, personAccessPath } from '../../kernel/realtime/database.ts';
import { inTime } from '../../kernel/waiting.ts';

/** Somebody else's change ends the loop in a moment; this ends it when something is wrong. */
const MAX_ATTEMPTS = 10;

export async function mirrorPerson(
  database: () => Promise<Database>,
  people: Pick<PeopleQueries, 'find'>,
  uid: string,
): Promise<void> {
  await mirror(await database(), personAccessPath(uid), () => personMirror(people, uid));
}

/** What the mirror has of a person where it shows them as they are now; null where nothing is stored of them. */
export async function personMirror(
  people: Pick<PeopleQueries, 'find'>,
  uid: string,
): Promise<PersonMirror | null> {
  // Of a person who cannot be read nothing is known, so they may do nothing, whatever their token claims.
  const stored = await people.find(uid).then(
    (person) => ({ person }),
    (error) => unlessUnreadable(Promise.reject(error)),
  );
  if (stored === undefined) return mirrorOf({ role: 'none', workspaces: {} });
  return stored.person === undefined ? null : mirrorOf(stored.person);
}

export async function mirrorWorkspaces(
  database: () => Promise<Database>,
  people: Pick<PeopleQueries, 'workspaces'>,
): Promise<void> {
  await mirror(await database(), ACCESS_WORKSPACES, () => people.workspaces());
}

/** Nobody waits longer for the other database. */
const FOLLOW_MILLISECONDS = 2000;

interface FollowPorts {
  readonly database: () => Promise<Database>;
  readonly people: Pick<PeopleQueries, 'find' | 'workspaces'>;
  readonly log: Log;
}

/** Mirrors a commit before it is answered, lest others write below a new workspace; the triggers repair failures. */
export async function followChanges(
  { database, people, log }: FollowPorts,
  changes: readonly AnyChange[],
): Promise<void> {
  const uids = new Set(changes.filter(isOfPerson).map(uidOf));
  const isNamed = changes.some(({ kind }) => kind === 'nameWorkspace');
  if (uids.size === 0 && !isNamed) return;
  const follow = async () => {
    // A new workspace that is there before its leader would be closed to them.
    await Promise.all([...uids].map((uid) => mirrorPerson(database, people, uid)));
    if (isNamed) await mirrorWorkspaces(database, people);
  };
  await inTime(follow(), FOLLOW_MILLISECONDS, 'The mirror of access').catch((error: unknown) =>
    log.warn('access_not_mirrored', { error }),
  );
}

type PersonChange = ChangeOf<
  Pick<PeopleChanges, 'setPerson' | 'limitAccount' | 'removeMember' | 'setMember'>
>;

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
  throw new Error(`${path} never stood still for its mirror.`);
}

/** Every role that one has by a role: a rule asks whether the one that it needs is there. */
type Included = Partial<Readonly<Record<Role | 'none', true>>>;

export interface PersonMirror {
  readonly role?: Included;
  readonly workspaces: Readonly<Record<string, Included>>;
  readonly valid_since?: number;
  /** The account is disabled or deleted: the person's agents may do nothing. */
  readonly out?: true;
}

export function mirrorOf({ role, workspaces, valid_since, account }: Person): PersonMirror {
  const members = Object.entries(workspaces).sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    ...(role !== undefined && { role: included(role) }),
    workspaces: Object.fromEntries(members.map(([workspace, own]) => [workspace, included(own)])),
    ...(valid_since !== undefined && { valid_since }),
    ...(isOut(account) && { out: true }),
  };
}

function included(role: Role | 'none'): Included {
  if (role === 'none') return { none: true };
  return Object.fromEntries(ROLES.filter((each) => hasRole(role, each)).map((each) => [each, true]));
}
