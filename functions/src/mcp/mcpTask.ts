/**
 * Work that continues after its call, as MCP's tasks extension shows it. The work is stored as a run or a coding task,
 * so any instance can respond. Source: docs/decisions/0058-tasks-prompts-traces.md.
 */
import type { JsonObject } from '../kernel/json.ts';

export interface McpTaskState {
  /** Id of the work, such as `run-abcdefghijklmnopqrst`. */
  readonly id: string;
  readonly status: 'working' | 'ended' | 'cancelled';
  /** What is being done, or what the work waits for. */
  readonly message?: string | undefined;
  readonly createdAt: Date;
  readonly changedAt: Date;
  /** Retention setting of the work. */
  readonly kept: 'runs' | 'tasks';
  readonly pollMs: number;
  readonly waitsFor?: WaitsFor | undefined;
  /** Call that cancels the work, by the tool's full name. */
  readonly cancel: { readonly tool: string; readonly args: JsonObject };
}

/** Request to a person, by its id, or an exhausted budget, by its key. */
export type WaitsFor = { readonly request: string } | { readonly budget: string };
