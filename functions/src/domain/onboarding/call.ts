import type { JsonObject } from '../json.ts';

/** A call that somebody is told to make. */
export interface ProposedCall {
  /** Its full name: `coordination.claim_task`. */
  readonly tool: string;
  readonly args: JsonObject;
}
