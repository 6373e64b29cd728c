/** Agents extend the registry of skills by what they declare, in the commit that registers them. */
import type { Agent, Capability } from '../agents/agent.ts';
import type { Change } from '../store.ts';
import { foldedCapability } from '../tasks/capabilities.ts';

/** What registering changes in the registry of skills: nothing where it is as it was. */
export function skillChanges(before: Agent | undefined, after: Agent): Change[] {
  const [was, is] = [byId(before?.capabilities ?? []), byId(after.capabilities)];
  const offered = [...is].flatMap(([id, capability]): Change[] => {
    const known = was.get(id);
    if (known !== undefined && isSame(known, capability)) return [];
    const { name, category, parameters } = capability;
    const author = after.creator ?? after.id;
    const skill = { id, name, category, version: after.version, author, ...(parameters && { parameters }) };
    return [{ kind: 'offerSkill', skill, agents: known === undefined ? 1 : 0 }];
  });
  const withdrawn = [...was.keys()].filter((id) => !is.has(id));
  return [...offered, ...withdrawn.map((id): Change => ({ kind: 'withdrawSkill', id }))];
}

/** Names that differ in case only are one capability; the first of them is taken. */
function byId(capabilities: readonly Capability[]): ReadonlyMap<string, Capability> {
  const first = [...capabilities].reverse();
  return new Map(first.map((capability) => [skillId(capability.name), capability]));
}

/** An id that Firestore takes, whatever the name. */
function skillId(name: string): string {
  const wellFormed = foldedCapability(name).replace(/\p{Surrogate}/gu, '\ufffd');
  return `capability.${encodeURIComponent(wellFormed)}`;
}

function isSame(one: Capability, other: Capability): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
