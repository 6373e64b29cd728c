/**
 * Agents: what queries go by is written anew, the part that an agent had in its workspace becomes the first of its parts,
 * and what is counted of agents is counted again.
 */
import type { QueryDocumentSnapshot } from '@google-cloud/firestore';
import {
  type Agent,
  countedAgent,
  homeOf,
  skillChanges,
  workspacesOf,
} from '../../functions/src/access/rules/agent.ts';
import { DEFAULT_WORKSPACE, hasRole, type Role } from '../../functions/src/access/rules/principal.ts';
import { agentFromDocument, agentToDocument } from '../../functions/src/access/store/agents.ts';
import { COLLECTIONS } from '../../functions/src/kernel/firestore/paths.ts';
import { STALE_CODES, statusCode } from '../../functions/src/kernel/firestore/provenCommit.ts';
import { pagesOf, readable } from '../operator/documents.ts';
import { type Carrying, Count, forEach, hasFields } from './carrying.ts';

/** What the rest of the migration needs to know of all agents. */
export interface AgentsFound {
  /** Owners by agent. */
  readonly owners: ReadonlyMap<string, string>;
  /** The strongest role of each owner's agents. */
  readonly strongest: ReadonlyMap<string, Role>;
  /** The owners of the agents in each workspace. */
  readonly ownersIn: ReadonlyMap<string, ReadonlySet<string>>;
  /** Agents at home in another workspace than the default one, with that. */
  readonly homes: ReadonlyMap<string, string>;
  /** Of each workspace, by the names of the counts. */
  readonly counts: ReadonlyMap<string, Readonly<Record<string, number>>>;
  /** How many agents declare each skill, and the skill as one of them does. */
  readonly skills: ReadonlyMap<string, { readonly skill: Skill; readonly agents: number }>;
}

type Offer = Extract<ReturnType<typeof skillChanges>[number], { readonly kind: 'offerSkill' }>;
type Skill = Offer['skill'];

export async function carryAgents({ database, say }: Carrying): Promise<AgentsFound> {
  const found = new AgentNotes();
  const count = new Count();
  const unread = (path: string) => say(`  ${path} cannot be read, and stays as it is.`);
  for await (const page of pagesOf(database.collection(COLLECTIONS.agents)))
    await forEach(readable(page, agentFromDocument, unread), async ({ snapshot }) => {
      const { agent, isChanged } = await carryAgent(snapshot);
      count.add(isChanged);
      if (agent !== undefined) found.note(agent);
    });
  say(`Agents: ${count}.`);
  return found;
}

/** Somebody else's change ends the loop in a moment; this ends it when something is wrong. */
const MAX_ATTEMPTS = 10;

async function carryAgent(
  first: QueryDocumentSnapshot,
): Promise<{ readonly agent: Agent | undefined; readonly isChanged: boolean }> {
  let snapshot: Pick<QueryDocumentSnapshot, 'updateTime'> & { data(): object | undefined } = first;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const stored = snapshot.data();
    if (stored === undefined) return { agent: undefined, isChanged: false };
    const agent = agentFromDocument(stored);
    const fields = agentToDocument(agent);
    if (hasFields(stored, fields)) return { agent, isChanged: false };
    try {
      await first.ref.update(fields, { lastUpdateTime: snapshot.updateTime });
      return { agent, isChanged: true };
    } catch (error) {
      if (!STALE_CODES.includes(statusCode(error))) throw error;
      const anew = await first.ref.get();
      snapshot = { updateTime: anew.updateTime ?? first.updateTime, data: () => anew.data() };
    }
  }
  throw new Error(`${first.ref.path} never stood still. Run the migration again.`);
}

class AgentNotes implements AgentsFound {
  readonly owners = new Map<string, string>();
  readonly strongest = new Map<string, Role>();
  readonly ownersIn = new Map<string, Set<string>>();
  readonly homes = new Map<string, string>();
  readonly counts = new Map<string, Record<string, number>>();
  readonly skills = new Map<string, { skill: Skill; agents: number }>();

  note(agent: Agent): void {
    const { id, ownerUid, role } = agent;
    this.owners.set(id, ownerUid);
    const strongest = this.strongest.get(ownerUid);
    if (strongest === undefined || hasRole(role, strongest)) this.strongest.set(ownerUid, role);
    const home = homeOf(agent);
    if (home !== DEFAULT_WORKSPACE) this.homes.set(id, home);
    for (const workspace of workspacesOf(agent)) {
      const owners = this.ownersIn.get(workspace) ?? new Set();
      this.ownersIn.set(workspace, owners.add(ownerUid));
    }
    // As registration counts it, of an agent that was not there before.
    for (const change of countedAgent(undefined, agent))
      if ('by' in change && 'workspace' in change) this.countIn(change.workspace, change.by);
    for (const change of skillChanges(undefined, agent))
      if (change.kind === 'offerSkill') {
        const { agents = 0 } = this.skills.get(change.skill.id) ?? {};
        this.skills.set(change.skill.id, { skill: change.skill, agents: agents + 1 });
      }
  }

  private countIn(workspace: string, by: object): void {
    const sums = this.counts.get(workspace) ?? {};
    for (const [name, count] of Object.entries(by)) sums[name] = (sums[name] ?? 0) + Number(count);
    this.counts.set(workspace, sums);
  }
}
