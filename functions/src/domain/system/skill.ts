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
