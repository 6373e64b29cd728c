/** MCP clients that people use, behind one interface: the current client with two revisions, and an old SDK. */
import {
  Client as CurrentClient,
  StreamableHTTPClientTransport as CurrentTransport,
} from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { sharedValidator } from './validation.ts';

/** Clients, named after the protocol revision that they negotiate or after their SDK. */
export const ERAS = ['client 2026-07-28', 'client 2025-11-25', 'sdk 1.x'] as const;
export type Era = (typeof ERAS)[number];

export interface ListedTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
}

export interface Answer {
  readonly isError: boolean;
  readonly text: string;
  readonly structured: Readonly<Record<string, unknown>>;
}

export interface ListedResource {
  readonly uri: string;
  readonly name: string;
  readonly mimeType?: string | undefined;
}

export interface Connection {
  readonly era: Era;
  readonly revision: string | undefined;
  readonly server: { readonly name: string; readonly version: string } | undefined;
  readonly instructions: string | undefined;
  listTools(): Promise<readonly ListedTool[]>;
  call(name: string, args?: Readonly<Record<string, unknown>>): Promise<Answer>;
  listResources(): Promise<readonly ListedResource[]>;
  read(uri: string): Promise<string>;
  close(): Promise<void>;
}

const IDENTITY = { name: 'muster-e2e', version: '1.0.0' };

/**
 * Connects with a URL that requests all tools, because `/mcp` lists only some by default. The client can then
 * validate the result of every tool against the tool's output schema.
 * @param fetcher replacement for fetch, with which a test can observe the HTTP exchange
 */
export function connect(era: Era, url: string, token: string, fetcher: typeof fetch = fetch): Promise<Connection> {
  const whole = new URL(url);
  if (!whole.searchParams.has('toolsets')) whole.searchParams.set('toolsets', 'all');
  return connectAt(era, whole.href, token, fetcher);
}

/** Connects to the URL without changing it, and lists the tools, as real clients do. */
export async function connectAt(
  era: Era,
  url: string,
  token: string,
  fetcher: typeof fetch = fetch,
): Promise<Connection> {
  const options = { requestInit: { headers: { Authorization: `Bearer ${token}` } }, fetch: fetcher };
  const connection = await (era === 'sdk 1.x' ? connectOld(url, options) : connectCurrent(era, url, options));
  await connection.listTools();
  return connection;
}

interface TransportOptions {
  readonly requestInit: RequestInit;
  readonly fetch: typeof fetch;
}

async function connectCurrent(era: Era, url: string, options: TransportOptions): Promise<Connection> {
  const mode = era === 'client 2026-07-28' ? { pin: '2026-07-28' } : ('legacy' as const);
  const client = new CurrentClient(IDENTITY, { versionNegotiation: { mode }, jsonSchemaValidator: sharedValidator });
  await client.connect(new CurrentTransport(new URL(url), options));
  return {
    era,
    revision: client.getNegotiatedProtocolVersion(),
    server: client.getServerVersion(),
    instructions: client.getInstructions(),
    listTools: async () => (await client.listTools()).tools,
    call: async (name, args = {}) => answerOf(await client.callTool({ name, arguments: { ...args } })),
    listResources: async () => (await client.listResources()).resources,
    read: async (uri) => textOf((await client.readResource({ uri })).contents),
    close: () => client.close(),
  };
}

async function connectOld(url: string, options: TransportOptions): Promise<Connection> {
  const client = new OldClient(IDENTITY, { jsonSchemaValidator: sharedValidator });
  const transport = new OldTransport(new URL(url), options);
  // The declared type lacks a property that exactOptionalPropertyTypes requires, but the object is a Transport.
  await client.connect(transport as Parameters<OldClient['connect']>[0]);
  return {
    era: 'sdk 1.x',
    revision: transport.protocolVersion,
    server: client.getServerVersion(),
    instructions: client.getInstructions(),
    listTools: async () => (await client.listTools()).tools,
    call: async (name, args = {}) =>
      answerOf(CallToolResultSchema.parse(await client.callTool({ name, arguments: { ...args } }))),
    listResources: async () => (await client.listResources()).resources,
    read: async (uri) => textOf((await client.readResource({ uri })).contents),
    close: () => client.close(),
  };
}

interface RawAnswer {
  readonly isError?: boolean | undefined;
  readonly content: readonly object[];
  readonly structuredContent?: unknown;
}

function answerOf({ isError = false, content, structuredContent = {} }: RawAnswer): Answer {
  if (!isRecord(structuredContent)) throw new Error('The structured content is not an object.');
  return { isError, text: textOf(content), structured: structuredContent };
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the text of a result or resource that has exactly one part. */
function textOf(parts: readonly object[]): string {
  const [part] = parts;
  if (parts.length === 1 && part !== undefined && 'text' in part && typeof part.text === 'string') return part.text;
  throw new Error(`Expected exactly one text part, but got ${parts.length} parts.`);
}
