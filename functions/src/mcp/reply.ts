import type { PackedAnswer } from './packedText.ts';

/** What the MCP server answers over HTTP: a whole JSON text, nothing, or a stream. */
export type McpReply = JsonReply | Response;

export interface JsonReply {
  readonly status: number;
  /** Undefined where the answer has no body: a notification is only accepted. */
  readonly json: string | PackedAnswer | undefined;
}

/** A JSON-RPC error that concerns a message as a whole. */
export function errorReply(status: number, code: number, message: string): JsonReply {
  return { status, json: JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null }) };
}
