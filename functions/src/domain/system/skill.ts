import type { JsonObject } from '../json.ts';

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

declare module '../store.ts' {
  interface ChangeKinds extends SkillChanges {}
}
