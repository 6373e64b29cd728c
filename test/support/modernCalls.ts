/** Requests of revision 2026-07-28 by a client that declares its capabilities in each of them. */
import { z } from 'zod';

export const TASKS_CLIENT = { extensions: { 'io.modelcontextprotocol/tasks': {} }, elicitation: { url: {} } };
export const FRAMING = { protocolVersion: '2026-07-28', clientInfo: { name: 'test', version: '1' } };

export type Fields = Readonly<Record<string, unknown>>;
const response = z.record(z.string(), z.unknown());

/** Sends a request and returns the JSON-RPC response. @param meta more fields of `_meta` */
export async function send(
  url: string,
  method: string,
  params: Fields,
  {
    capabilities = TASKS_CLIENT,
    meta = {},
    headers: more = {},
  }: { capabilities?: object; meta?: Fields; headers?: Record<string, string> } = {},
): Promise<Fields> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': FRAMING.protocolVersion,
    'io.modelcontextprotocol/clientInfo': FRAMING.clientInfo,
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    ...meta,
  };
  const headers = {
    Authorization: 'Bearer leader-key',
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    'MCP-Protocol-Version': FRAMING.protocolVersion,
    'Mcp-Method': method,
    ...(!method.endsWith('/list') && { 'Mcp-Name': String(params['taskId'] ?? params['name']) }),
    ...more,
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } });
  return response.parse(await (await fetch(url, { method: 'POST', headers, body })).json());
}

/** Returns the result of a response without the metadata of the server. Fails if the response is an error. */
export function resultOf(sent: Fields): Fields {
  const { _meta: _, ...result } = response.parse(sent['result'], { error: () => JSON.stringify(sent) });
  return result;
}
