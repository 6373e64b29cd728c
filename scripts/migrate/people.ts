/**
 * People: the deployment stores the role that an account claims. Of owners of agents of whom no account claims a role it
 * stores the strongest role of their agents, which could otherwise do nothing any more.
 */
import { hasRole, type Role } from '../../functions/src/access/rules/principal.ts';
import { personFromDocument } from '../../functions/src/access/store/people.ts';
import { COLLECTIONS } from '../../functions/src/kernel/firestore/paths.ts';
import { type Account, accounts } from '../operator/accounts.ts';
import { pagesOf, readable } from '../operator/documents.ts';
import type { AgentsFound } from './agents.ts';
import { type Carrying, Count } from './carrying.ts';

/** The deployment's role for each person who has one. */
export type PeopleFound = ReadonlyMap<string, Role>;

export async function carryPeople(carrying: Carrying, { strongest }: AgentsFound): Promise<PeopleFound> {
  const { say } = carrying;
  const stored = await storedRoles(carrying);
  const known = new Map<string, Account>();
  for await (const account of accounts()) known.set(account.uid, account);
  const claiming = [...known.values()].filter(({ role }) => role !== undefined).map(({ uid }) => uid);
  const uids = new Set([...claiming, ...strongest.keys()]);
  const count = new Count();
  for (const uid of [...uids].sort()) {
    const isNew = !stored.has(uid);
    if (isNew) stored.set(uid, await carryPerson(carrying, uid, known.get(uid), strongest));
    count.add(isNew && stored.get(uid) !== 'none');
  }
  say(`People with a role: ${count}.`);
  const without = [...known.keys()].filter((uid) => !stored.has(uid)).length;
  if (without > 0)
    say(
      `  ${without} accounts have no role. They were viewers, and may do nothing now: npm run people -- set-role.`,
    );
  return new Map([...stored].flatMap(([uid, role]) => (role === 'none' ? [] : [[uid, role] as const])));
}

/** What the deployment says already. Who cannot be read gets no other role. */
async function storedRoles({ database, say }: Carrying): Promise<Map<string, Role | 'none'>> {
  const stored = new Map<string, Role | 'none'>();
  const unread = (path: string) => {
    stored.set(path.slice(path.indexOf('/') + 1), 'none');
    say(`  ${path} cannot be read, and stays as it is.`);
  };
  for await (const page of pagesOf(database.collection(COLLECTIONS.people)))
    for (const { snapshot, value } of readable(page, personFromDocument, unread))
      if (value.role !== undefined) stored.set(snapshot.id, value.role);
  return stored;
}

async function carryPerson(
  { ports, say }: Carrying,
  uid: string,
  account: Account | undefined,
  strongest: AgentsFound['strongest'],
): Promise<Role | 'none'> {
  const agents = strongest.get(uid);
  if (account?.isDisabled) {
    if (agents !== undefined) say(`  ${uid} is disabled and gets no role: their agents can do nothing now.`);
    return 'none';
  }
  const role = account?.role ?? agents;
  if (role === undefined) return 'none';
  await ports.store.commit([{ kind: 'setPerson', uid, role }]);
  if (account?.role === undefined) {
    const why = account === undefined ? 'has no account' : 'has an account that claims no role';
    say(`  ${uid} ${why}: ${role} from now on, as the strongest of their agents.`);
  } else if (agents !== undefined && !hasRole(role, agents)) {
    say(`  ${uid} is ${role}, and one of their agents ${agents}: it is no more than ${role} from now on.`);
  }
  return role;
}
