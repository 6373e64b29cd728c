/** What a client can be told of a call before its answer. Source: MCP 2025-11-25, "Progress". */
import type { JsonObject } from '../domain/json.ts';

/** How far a call has come. */
export interface Progress {
  readonly progress: number;
  readonly total?: number;
  /** In words. */
  readonly message: string;
}

/** Names a call for whoever wants to be told how far it has come. */
export type ProgressToken = string | number;

export function progressNotification(progressToken: ProgressToken, progress: Progress) {
  const params: JsonObject = { progressToken, ...progress };
  return { method: 'notifications/progress', params };
}
