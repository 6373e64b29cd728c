/** Workspaces: each that was worked in becomes private, and those who worked in it become its members. */
import type { Member } from '../../functions/src/access/rules/people.ts';
import {
  DEFAULT_WORKSPACE,
  hasRole,
  type Role,
  WORKSPACE_NAME,
} from '../../functions/src/access/rules/principal.ts';
import { accessFromDocument } from '../../functions/src/access/store/people.ts';
import type { Change } from '../../functions/src/kernel/commit.ts';
import { COLLECTIONS, WORKSPACE_ACCESS_PATH } from '../../functions/src/kernel/firestore/paths.ts';
import type { AgentsFound } from './agents.ts';
import { type Carrying, Count } from './carrying.ts';
import type { PeopleFound } from './people.ts';
import type { MakersFound } from './tasks.ts';

/** Who gave these roles. */
const ADDED_BY = 'migration';

/** @returns all workspaces that there are */
export async function carryWorkspaces(
  carrying: Carrying,
  agents: AgentsFound,
  people: PeopleFound,
  makers: MakersFound,
): Promise<ReadonlySet<string>> {
  const { database, say } = carrying;
  const documents = await database.collection(COLLECTIONS.workspaces).listDocuments();
  const names = new Set([...documents.map(({ id }) => id), ...agents.ownersIn.keys(), ...makers.keys()]);
  const snapshot = await database.doc(WORKSPACE_ACCESS_PATH).get();
  const named = snapshot.exists ? accessFromDocument(snapshot.data()).access : {};
  const count = new Count();
  for (const workspace of [...names].sort()) {
    if (workspace === DEFAULT_WORKSPACE) continue;
    if (!WORKSPACE_NAME.test(workspace)) {
      say(`  "${workspace}" is no name of a workspace any more, and stays closed to everybody.`);
      continue;
    }
    const isNew = !Object.hasOwn(named, workspace);
    count.add(isNew);
    if (isNew) await openWorkspace(carrying, workspace, membersOf(workspace, agents, people, makers));
  }
  say(`Workspaces beside the default one: ${count}.`);
  return names.add(DEFAULT_WORKSPACE);
}

function membersOf(
  workspace: string,
  { owners, ownersIn }: AgentsFound,
  people: PeopleFound,
  makers: MakersFound,
): readonly Member[] {
  const worked = [...(makers.get(workspace) ?? [])].map((maker) => owners.get(maker) ?? maker);
  const uids = new Set([...(ownersIn.get(workspace) ?? []), ...worked]);
  const addedAt = new Date();
  return [...uids].sort().flatMap((uid): Member[] => {
    const role = people.get(uid);
    if (role === undefined) return [];
    return [{ uid, workspace, role: memberRole(role), addedBy: ADDED_BY, addedAt }];
  });
}

function memberRole(role: Role): Member['role'] {
  return role === 'admin' ? 'leader' : role;
}

/** So many are written at once: each is two documents. */
const AT_ONCE = 100;

/** It is named last: until then another run begins with it again. */
async function openWorkspace(
  { ports, say }: Carrying,
  workspace: string,
  members: readonly Member[],
): Promise<void> {
  for (let from = 0; from < members.length; from += AT_ONCE) {
    const some = members.slice(from, from + AT_ONCE);
    await ports.store.commit(some.map((member): Change => ({ kind: 'setMember', member })));
  }
  await ports.store.commit([{ kind: 'nameWorkspace', workspace, access: 'private' }]);
  const listed = members.map(({ uid, role }) => `${uid} (${role})`).join(', ') || 'nobody';
  say(`  ${workspace} is private. Its members: ${listed}.`);
  if (!members.some(({ role }) => hasRole(role, 'leader')))
    say(
      `  Nobody leads ${workspace}: npm run people -- add <uid or mail> --workspace ${workspace} --role leader.`,
    );
  if (await ports.workspaces.hasData(workspace))
    say(
      `  messages/${workspace} and shared/${workspace} are that workspace's now: only its members reach them.`,
    );
}
