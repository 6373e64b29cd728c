/** Calls that a workspace wants approved before they are made. Source: docs/decisions/0033-asking-people.md. */
import type { JsonObject } from '../../kernel/json.ts';
import type { LooseningError } from '../../kernel/loosening.ts';
import type { Principal } from './principal.ts';

/** A call that may have to be approved. */
export interface GatedCall {
  readonly principal: Principal;
  readonly workspace: string;
  /** Its full name. */
  readonly tool: string;
  /** As checked. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly idempotencyKey: string | undefined;
  readonly mostUsd: number | undefined;
}

/** The gate of calls that a workspace wants approved. */
export interface Approvals {
  /**
   * @returns undefined where the call may be made; its answer where it was approved and made already
   * @throws MusterError APPROVAL_REQUIRED while it waits; what came of it; FORBIDDEN where it was not approved
   */
  pass(call: GatedCall): Promise<JsonObject | undefined>;
  /**
   * The same for an agent's call that was refused because it loosens a limit.
   * @throws MusterError as `pass`; FORBIDDEN if the person who decides has no account
   */
  passLoosening(call: GatedCall, refused: LooseningError): Promise<JsonObject>;
}
