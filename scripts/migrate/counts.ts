/** What is counted of agents: in each workspace, and of each skill. Both are set to what the agents themselves say. */
import type { DocumentReference, DocumentSnapshot } from '@google-cloud/firestore';
import { DEFAULT_WORKSPACE } from '../../functions/src/access/rules/principal.ts';
import {
  AGENT_COUNT_SHARDS,
  agentCountsPath,
  COLLECTIONS,
  MEMBERS,
  skillPath,
  workspacePath,
} from '../../functions/src/kernel/firestore/paths.ts';
import { pagesOf } from '../operator/documents.ts';
import type { AgentsFound } from './agents.ts';
import { type Carrying, Count, hasFields } from './carrying.ts';

/** @param workspaces all that there are, the default one too */
export async function carryCounts(
  carrying: Carrying,
  { counts, skills }: AgentsFound,
  workspaces: ReadonlySet<string>,
): Promise<void> {
  const count = new Count();
  for (const workspace of new Set([...workspaces, ...counts.keys()]))
    count.add(await countWorkspace(carrying, workspace, counts.get(workspace) ?? {}));
  carrying.say(`Counts of agents, by workspace: ${count}.`);
  await carrySkills(carrying, skills);
  await endRegistry(carrying);
}

/** Writes the counts where they are not what they should be, then deletes those of before, which stood elsewhere. */
async function countWorkspace(
  { database }: Carrying,
  workspace: string,
  wanted: Readonly<Record<string, number>>,
): Promise<boolean> {
  const shards = Array.from({ length: AGENT_COUNT_SHARDS }, (_, shard) =>
    database.doc(`${agentCountsPath(workspace)}/${shard}`),
  );
  const stored = summed(await database.getAll(...shards));
  const former = await formerShards(database.doc(workspacePath(workspace)));
  const names = [...new Set([...Object.keys(wanted), ...Object.keys(stored)])];
  const isWrong = names.some((name) => (stored[name] ?? 0) !== (wanted[name] ?? 0));
  if (!isWrong && former.length === 0) return false;
  const batch = database.batch();
  const none = Object.fromEntries(names.map((name) => [name, 0]));
  if (isWrong)
    for (const [index, shard] of shards.entries())
      batch.set(shard, index === 0 ? { ...none, ...wanted } : none);
  for (const shard of former) batch.delete(shard);
  await batch.commit();
  return true;
}

function summed(shards: readonly DocumentSnapshot[]): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const [name, value] of shards.flatMap((snapshot) => Object.entries(snapshot.data() ?? {})))
    if (typeof value === 'number') sums[name] = (sums[name] ?? 0) + value;
  return sums;
}

/** The counts of before, which stood where a workspace has its members now. No member has counts, and no count a uid. */
async function formerShards(workspace: DocumentReference): Promise<readonly DocumentReference[]> {
  const { docs } = await workspace.collection(MEMBERS).orderBy('total').get();
  return docs.filter((snapshot) => snapshot.get('uid') === undefined).map(({ ref }) => ref);
}

/** Where all agents of the deployment were counted. By now each workspace counts its own. */
const FORMER_REGISTRY = 'registry';

async function endRegistry({ database, say }: Carrying): Promise<void> {
  const shards = await database.collection(FORMER_REGISTRY).listDocuments();
  for (const shard of shards) await shard.delete();
  if (shards.length > 0) say(`Counts of all agents in ${FORMER_REGISTRY}: ${shards.length} deleted.`);
}

async function carrySkills({ database, ports, say }: Carrying, skills: AgentsFound['skills']): Promise<void> {
  const count = new Count();
  const stored = new Set<string>();
  for await (const page of pagesOf(database.collection(COLLECTIONS.skills)))
    for (const snapshot of page) {
      stored.add(snapshot.id);
      // Until each workspace had skills of its own, all were the default workspace's.
      const workspace: unknown = snapshot.get('workspace') ?? DEFAULT_WORKSPACE;
      const fields = { agents: skills.get(snapshot.id)?.agents ?? 0, workspace };
      const isChanged = !hasFields(snapshot.data(), fields);
      if (isChanged) await snapshot.ref.update(fields);
      count.add(isChanged);
    }
  for (const [id, { skill, agents }] of skills) {
    if (stored.has(id)) continue;
    await ports.store.commit([{ kind: 'offerSkill', skill, agents: 1 }]);
    await database.doc(skillPath(id)).update({ agents });
    count.add(true);
  }
  say(`Skills: ${count}.`);
}
