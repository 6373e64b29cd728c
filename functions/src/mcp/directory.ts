/** What a deployment tells of itself. */
import type { JsonObject } from '../domain/json.ts';
import type { Role } from '../domain/principal.ts';

/** What a deployment can do, and what of it the caller's endpoint serves. */
export interface Directory {
  /** Every tool that there is, in the order of the toolsets. */
  readonly tools: readonly KnownTool[];
  /** The URIs of the resources that this endpoint lists. */
  readonly resources: readonly string[];
  /**
   * The name under which this endpoint takes calls of a tool; undefined where it does not.
   * @param fullName `coordination.create_task`
   */
  wireName(fullName: string): string | undefined;
}

/** A tool as others speak of it. */
export interface KnownTool {
  readonly toolset: string;
  /** `coordination.create_task`: `tools/call` finds it by this name wherever it is served. */
  readonly fullName: string;
  readonly title: string;
  readonly description: string;
  readonly role: Role;
  /** The JSON Schema of its arguments. */
  readonly parameters: JsonObject;
  readonly example: JsonObject;
}
