/**
 * Rebuilds the number of agents per skill. The number is written only if the skill's document has not changed since
 * the agents were counted. If an agent has joined or left since then, the agents are counted again.
 */
import { FieldPath } from '@google-cloud/firestore';
import {
  agentFromDocument,
  foldedCapability,
  skillChanges,
  skillFromDocument,
} from '../../functions/src/agents/rules/agent.ts';
import { capabilityIn } from '../../functions/src/agents/store/agents.ts';
import { COLLECTIONS, skillPath } from '../../functions/src/kernel/firestore/paths.ts';
import { STALE_CODES, statusCode } from '../../functions/src/kernel/firestore/verifiedCommit.ts';
import { forEach, pagesOf, readable } from '../operator/documents.ts';
import { Progress, type Rebuilding, unread } from './rebuilding.ts';

type Offer = Extract<ReturnType<typeof skillChanges>[number], { readonly kind: 'offerSkill' }>;

export async function rebuildSkills(rebuilding: Rebuilding): Promise<void> {
  const missing = await missingSkills(rebuilding);
  const skills = new Progress('Skills', rebuilding);
  if (rebuilding.isDry) for (const _ of missing) skills.add(true);
  else
    await forEach([...missing.values()], async ({ skill }) => {
      await rebuilding.ports.store.commit([{ kind: 'offerSkill', skill, agents: 0 }]);
    });
  const all = rebuilding.database.collection(COLLECTIONS.skills).select();
  for await (const page of pagesOf(all))
    await forEach(page, async ({ id }) => {
      skills.add((await countSkill(rebuilding, id)) || missing.has(id));
    });
  skills.end();
}

/** Returns declared skills that have no document, with the description of the agent that registered last. */
async function missingSkills({ database, say }: Rebuilding): Promise<ReadonlyMap<string, Described>> {
  const missing = new Map<string, Described>();
  const there = new Set<string>();
  for await (const page of pagesOf(database.collection(COLLECTIONS.agents))) {
    const described = readable(page, agentFromDocument, unread(say)).flatMap(({ value: agent }) =>
      skillChanges(undefined, agent).flatMap((change) =>
        change.kind === 'offerSkill' ? [{ skill: change.skill, at: agent.registered_at }] : [],
      ),
    );
    const unknown = [...new Set(described.map(({ skill: { id } }) => id))].filter((id) => !there.has(id));
    const found =
      unknown.length === 0 ? [] : await database.getAll(...unknown.map((id) => database.doc(skillPath(id))));
    for (const { id, exists } of found) if (exists) there.add(id);
    for (const one of described) {
      const { id } = one.skill;
      const known = missing.get(id);
      if (!there.has(id) && (known === undefined || known.at < one.at)) missing.set(id, one);
    }
  }
  return missing;
}

interface Described {
  readonly skill: Offer['skill'];
  readonly at: Date;
}

/** Maximum attempts. After a conflict, one or two more are enough; the limit prevents an endless loop. */
const MAX_ATTEMPTS = 10;

/** Corrects a skill's count. @returns whether the count was wrong */
async function countSkill({ database, isDry, say }: Rebuilding, id: string): Promise<boolean> {
  const skills = database.collection(COLLECTIONS.skills);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const measured = await database.runTransaction(
      async (snapshot) => {
        const { docs } = await snapshot.get(skills.where(FieldPath.documentId(), '==', id));
        const [found] = readable(docs, skillFromDocument, unread(say));
        if (found === undefined) return undefined;
        const { workspace, name, agents } = found.value;
        const capable = capabilityIn(workspace, foldedCapability(name));
        const declaring = database
          .collection(COLLECTIONS.agents)
          .where('workspace_capabilities', 'array-contains', capable);
        const { count } = (await snapshot.get(declaring.count())).data();
        return { agents, count, lastUpdateTime: found.snapshot.updateTime };
      },
      { readOnly: true },
    );
    if (measured === undefined || measured.agents === measured.count) return false;
    if (isDry) return true;
    try {
      const { count, lastUpdateTime } = measured;
      await skills.doc(id).update({ agents: count }, { lastUpdateTime });
      return true;
    } catch (error) {
      if (!STALE_CODES.includes(statusCode(error))) throw error;
    }
  }
  throw new Error(`${skillPath(id)} changed too often. Run the rebuild again.`);
}
