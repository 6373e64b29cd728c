/** Tasks: what is stored below a task says whose workspace it is, so that security rules can decide about it. */
import type { QueryDocumentSnapshot } from '@google-cloud/firestore';
import { DEFAULT_WORKSPACE } from '../../functions/src/access/rules/principal.ts';
import { COLLECTIONS } from '../../functions/src/kernel/firestore/paths.ts';
import { pagesOf } from '../operator/documents.ts';
import { addFields, type Carrying, Count } from './carrying.ts';

/** Who made something in each workspace: uids, and ids of agents. */
export type MakersFound = ReadonlyMap<string, ReadonlySet<string>>;

/** The collections below a task. */
const BELOW = ['logs', 'results'] as const;

export async function carryTasks(carrying: Carrying): Promise<MakersFound> {
  const { database, say } = carrying;
  const makers = new Map<string, Set<string>>();
  /** Of the tasks of others than the default workspace, of which there are fewer. */
  const elsewhere = new Map<string, string>();
  const known = new Set<string>();
  const note = (workspace: unknown, maker: unknown): void => {
    if (typeof workspace !== 'string' || typeof maker !== 'string') return;
    makers.set(workspace, (makers.get(workspace) ?? new Set()).add(maker));
  };
  const tasks = database.collection(COLLECTIONS.tasks).select('workspace', 'created_by');
  for await (const page of pagesOf(tasks))
    for (const snapshot of page) {
      const workspace: unknown = snapshot.get('workspace');
      if (typeof workspace !== 'string') continue;
      known.add(snapshot.id);
      if (workspace !== DEFAULT_WORKSPACE) elsewhere.set(snapshot.id, workspace);
      note(workspace, snapshot.get('created_by'));
    }
  const runs = database.collection(COLLECTIONS.runs).select('workspace', 'owner_uid');
  for await (const page of pagesOf(runs))
    for (const snapshot of page) note(snapshot.get('workspace'), snapshot.get('owner_uid'));
  const workspaceOf = (taskId: string): string | undefined =>
    known.has(taskId) ? (elsewhere.get(taskId) ?? DEFAULT_WORKSPACE) : undefined;
  for (const collection of BELOW) await carryBelow(carrying, collection, workspaceOf);
  say(`Tasks: ${known.size} found.`);
  return makers;
}

async function carryBelow(
  { database, say }: Carrying,
  collection: (typeof BELOW)[number],
  workspaceOf: (taskId: string) => string | undefined,
): Promise<void> {
  const count = new Count();
  const writer = database.bulkWriter();
  let orphans = 0;
  for await (const page of pagesOf(database.collectionGroup(collection))) {
    for (const snapshot of page.filter(isBelowTask)) {
      const workspace = workspaceOf(snapshot.ref.parent.parent?.id ?? '');
      const isMissing = snapshot.get('workspace') === undefined;
      if (workspace === undefined) {
        orphans += 1;
        continue;
      }
      count.add(isMissing);
      if (isMissing) addFields(writer, snapshot.ref, { workspace });
    }
    await writer.flush();
  }
  await writer.close();
  say(`Documents in tasks/*/${collection}: ${count}.`);
  if (orphans > 0) say(`  ${orphans} belong to no task, and stay as they are: nobody can read them.`);
}

/** Callers name their own collections below `messages` and `shared` as they like. */
function isBelowTask({ ref }: QueryDocumentSnapshot): boolean {
  const [root, , , , ...deeper] = ref.path.split('/');
  return root === COLLECTIONS.tasks && deeper.length === 0;
}
