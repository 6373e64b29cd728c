/** Protocols (dialects) in which a client can call a tool: both eras of MCP, and plain JSON-RPC. */

export interface CallRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

type Dialect = (tool: string, args: unknown) => CallRequest;

export const REVISION = '2026-07-28';

export const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': REVISION,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'attacker', version: '1' },
};

const legacy: Dialect = (name, args) => ({
  path: '',
  headers: { 'MCP-Protocol-Version': '2025-11-25' },
  body: message('tools/call', { name, arguments: args }),
});

const modern: Dialect = (name, args) => ({
  path: '',
  headers: { 'MCP-Protocol-Version': REVISION, 'Mcp-Method': 'tools/call', 'Mcp-Name': name },
  body: message('tools/call', { name, arguments: args, _meta: ENVELOPE }),
});

/** In JSON-RPC methods, a dot follows the toolset. It replaces the first underscore: toolset names have none. */
const rpc: Dialect = (name, args) => ({ path: 'rpc', headers: {}, body: message(name.replace('_', '.'), args) });

export const DIALECTS: readonly Dialect[] = [legacy, modern, rpc];

export function message(method: string, params: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
}
