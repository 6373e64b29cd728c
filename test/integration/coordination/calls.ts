/** Helpers that call tools as the MCP server does, including permission checks and idempotency keys. */
import assert from 'node:assert/strict';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import { type JsonObject, jsonObject } from '../../../functions/src/kernel/json.ts';
import { callTool } from '../../../functions/src/mcp/call.ts';
import { Catalogs } from '../../../functions/src/mcp/catalog.ts';
import type { FoundTool } from '../../../functions/src/mcp/tool.ts';
import { type ToolResult, toolResult } from '../../../functions/src/mcp/toolResponse.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';
import { authenticatorOf } from '../../support/principals.ts';
import { type Place, silent } from './team.ts';

const catalog = new Catalogs(toolsets).of({
  toolsets: toolsets.map((toolset) => toolset.name),
  readonly: false,
  workspace: undefined,
  dialect: 'prefixed',
  listing: 'whole',
});

/** Index of all tools of all toolsets. */
export const { directory } = catalog;

export function toolNamed(name: string): FoundTool {
  const found = catalog.findTool(name);
  assert.ok(found, `unknown tool ${name}`);
  return found;
}

/**
 * Calls a tool and returns the response that a client receives, without undefined fields.
 * @param name Tool name as listed at `/mcp`, such as `coordination_create_task`.
 */
export async function call(
  { app, workspace, leader }: Place,
  name: string,
  rawArguments: JsonObject,
  principal: Principal = leader,
): Promise<ToolResult> {
  const ports = { ...app.calls, authenticator: authenticatorOf(principal), log: silent };
  const exchange = {
    principal,
    credential: `credential of ${principal.uid}`,
    workspace,
    requestId: 'a-request',
    baseUrl: 'https://muster.example/mcp',
    directory,
    disconnectSignal: () => new AbortController().signal,
    timeLeft: () => 50_000,
  };
  const found = toolNamed(name);
  const result = toolResult(found.errors, await callTool(ports, exchange, found, { args: rawArguments }));
  return { ...result, structuredContent: jsonObject.parse(JSON.parse(result.content[0].text)) };
}

/** Runs a call that must succeed, and returns its response. */
export async function answer(...of: Parameters<typeof call>): Promise<JsonObject> {
  const { structuredContent, isError } = await call(...of);
  assert.equal(isError, undefined, JSON.stringify(structuredContent));
  return structuredContent;
}

/** Runs a call that must fail, and returns its error message. */
export async function refusedWith(...of: Parameters<typeof call>): Promise<string> {
  const { structuredContent, isError } = await call(...of);
  assert.equal(isError, true, JSON.stringify(structuredContent));
  return String(structuredContent['error']);
}
