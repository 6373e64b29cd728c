/** Serves the MCP endpoint over real HTTP through the functions framework. Its ports keep their data in memory. */
import { createHash, createHmac, randomUUID } from 'node:crypto';
import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { http } from '@google-cloud/functions-framework';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import { Addresses } from '../../functions/src/access/rules/addresses.ts';
import { hideBody } from '../../functions/src/entry/http.ts';
import type { Principal } from '../../functions/src/identity/rules/principal.ts';
import type { RecordedResponse } from '../../functions/src/kernel/commit.ts';
import { MusterError } from '../../functions/src/kernel/errors.ts';
import type { Log } from '../../functions/src/kernel/ports.ts';
import type { EndedCall } from '../../functions/src/limits/rules/callMetrics.ts';
import type { Directory } from '../../functions/src/mcp/callContext.ts';
import { createEndpoint } from '../../functions/src/mcp/http/endpoint.ts';
import type { AnswerDependencies, FrontDependencies } from '../../functions/src/mcp/http/pipeline.ts';
import { createAnswer } from '../../functions/src/mcp/http/protocols.ts';
import { OpenStreams } from '../../functions/src/mcp/http/streams.ts';
import { agentOf } from './principals.ts';

export interface LogEntry {
  readonly level: keyof Log;
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Headers of a request with a JSON body by `LEADER`. */
export const JSON_BY_LEADER = { Authorization: 'Bearer leader-key', 'Content-Type': 'application/json' };

/** The field `_meta` of requests in the revision 2026-07-28. */
export const MODERN_META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
};

/** A directory without tools and resources, for calls that need neither. */
export const EMPTY_DIRECTORY: Directory = {
  tools: [],
  resources: [],
  wireName: () => undefined,
  named: (text: string) => text,
};

type EndpointDependencies = AnswerDependencies & Omit<FrontDependencies, 'toolsetNames'>;

export interface MemoryPorts extends Omit<EndpointDependencies, 'toolsets'> {
  readonly entries: LogEntry[];
  readonly settled: Map<string, RecordedResponse>;
  readonly seen: string[];
  readonly counted: EndedCall[];
  /** Principals by bearer credential. */
  readonly principals: Map<string, Principal>;
}

export const LEADER: Principal = agentOf('lead', 'owner', 'leader');

export function memoryPorts(): MemoryPorts {
  const entries: LogEntry[] = [];
  const settled = new Map<string, RecordedResponse>();
  const seen: string[] = [];
  const counted: EndedCall[] = [];
  const principals = new Map<string, Principal>([['leader-key', LEADER]]);
  const authenticate = async (bearer: string) => {
    const principal = principals.get(bearer);
    if (principal === undefined) throw new MusterError('UNAUTHORIZED', 'This credential is not known.');
    return principal;
  };
  const note = (level: keyof Log) => (event: string, fields: Readonly<Record<string, unknown>>) => {
    entries.push({ level, event, fields });
  };
  return {
    entries,
    settled,
    seen,
    counted,
    principals,
    services: () => ({}) as never,
    approvals: {
      requireApproval: async () => undefined,
      requireLooseningApproval: async (_, error) => Promise.reject(error),
    },
    questions: { pending: async () => new Map(), shown: async () => undefined, decided: async () => undefined },
    keepDays: { runs: 30, tasks: 0 },
    view: async (name) => `<!doctype html><title>${name}</title>`,
    authenticator: { authenticate, reauthenticate: authenticate },
    people: { watch: () => () => undefined },
    recordedResponses: { find: async (id) => settled.get(id) },
    presence: {
      touch: async (agentId) => void seen.push(agentId),
      lastSeen: async () => new Map(),
      notSeenSince: async () => new Map(),
      restore: async () => undefined,
      remove: async () => false,
      check: async () => undefined,
    },
    limits: { take: async () => undefined },
    metrics: { record: (call) => void counted.push(call) },
    clock: { now: () => new Date() },
    randomness: { uuid: randomUUID, letters: () => 'a', secret: () => 's', integer: () => 0 },
    hashing: {
      sha256: (text) => createHash('sha256').update(text).digest('hex'),
      hmac: (key, text) => createHmac('sha256', key).update(text).digest('base64url'),
      equal: (left, right) => left === right,
    },
    log: { info: note('info'), warn: note('warn'), error: note('error') },
    ...endpointSettings(),
    allowedOrigins: ['https://console.example'],
  };
}

/** Settings of an endpoint without a public address. */
export const endpointSettings = () => ({
  streams: { lifetimeMs: 60_000, keepAliveMs: 15_000 },
  openStreams: new OpenStreams(),
  allowedOrigins: [],
  addresses: new Addresses({ publicUrl: undefined, functionUrl: undefined }),
  mountPath: undefined,
  trustedProxies: 0,
  version: '0.0.0',
});

export interface RunningEndpoint {
  /** URL without a trailing slash. */
  readonly url: string;
  close(): Promise<void>;
}

let served = 0;

export async function serveEndpoint(dependencies: EndpointDependencies, port = 0): Promise<RunningEndpoint> {
  served += 1;
  const name = `mcp${served}`;
  const answers = { answerMcp: createAnswer(dependencies) };
  const toolsetNames = dependencies.toolsets.map((toolset) => toolset.name);
  http(
    name,
    createEndpoint({ ...dependencies, toolsetNames }, () => answers),
  );
  const server = getTestServer(name);
  // In production, entry/http.ts hides the bodies of all requests to the process. Here, only this server hides them.
  subscribe('http.server.request.start', (event) => {
    const started = event as { request: IncomingMessage; server: Server };
    if (started.server === server) hideBody(started.request);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${taken}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
