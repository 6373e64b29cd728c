/** The capabilities that agents declare, as skills that others can look up. */
import type { Change } from '../../kernel/commit.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { type Agent, type Capability, foldedCapability } from './agent.ts';

/** A capability that agents declare: `skills/{id}`. */
export interface CapabilitySkill {
  readonly id: string;
  /** As the agent wrote it that declared it last. */
  readonly name: string;
  readonly category: string;
  readonly parameters?: JsonObject;
  /** That agent's version. */
  readonly version: string;
  /** Who made that agent, or its id. */
  readonly author: string;
}

/** What commits may change of skills. */
export interface SkillChanges {
  /** An agent declares a capability and describes it; `agents` more have it than before. */
  readonly offerSkill: { readonly skill: CapabilitySkill; readonly agents: 0 | 1 };
  /** One agent fewer has it. */
  readonly withdrawSkill: { readonly id: string };
}

declare module '../../kernel/commit.ts' {
  interface ChangeKinds extends SkillChanges {}
}

// Agents extend the registry of skills by what they declare, in the commit that registers them.

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

// How the system tools read. Each call reads what it gives and a constant more.

/** A capability and how many agents have it now. */
export type OfferedSkill = CapabilitySkill & { readonly agents: number };
