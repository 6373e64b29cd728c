/** Handlers of the MCP methods, in the form that the MCP SDK requires. */
import * as sdk from '@modelcontextprotocol/server';
import { z } from 'zod';
import { rolesOf } from '../../identity/rules/principal.ts';
import { ERROR_CODES, MusterError, shownName } from '../../kernel/errors.ts';
import { sentBytes } from '../../kernel/json.ts';
import { type CallPorts, callTool, completeVariable, readResource } from '../call.ts';
import type { McpTaskState, Notification } from '../callContext.ts';
import type { RoutedRequest } from '../catalog.ts';
import { unknownTool } from '../names.ts';
import { type FoundPrompt, promptText } from '../prompt.ts';
import { VIEWS_EXTENSION } from '../resources.ts';
import type { FoundTool } from '../tool.ts';
import { legacyResult, type Outcome, type ToolResult, toolResult } from '../toolResponse.ts';
import { isRecord } from '../validation.ts';
import { elicitationOf } from './elicitation.ts';
import { requireTasks, serveTasks, supportsTasks, TASKS_EXTENSION, taskFields } from './tasks.ts';

/** `legacy`: protocol revisions up to 2025-11-25, which begin with a handshake. `modern`: later ones, without it. */
export type Era = 'legacy' | 'modern';

/** The only supported modern revision, which has no handshake and no sessions. */
export const MODERN = '2026-07-28';

/** Lists change only with a deployment, so clients may cache them for five minutes. */
const LIST_CACHE = { ttlMs: 300_000, cacheScope: 'private' } as const;

const CACHE_HINTS = {
  'prompts/list': LIST_CACHE,
  'resources/list': LIST_CACHE,
  'resources/templates/list': LIST_CACHE,
  'server/discover': LIST_CACHE,
};

// Schemas of params, used in place of the SDK's schemas, because the SDK reports invalid params as internal errors.

/** Params of list methods. All lists have only one page, so Muster never returns a cursor. */
export const PAGE = z.looseObject({ cursor: z.undefined('invalid cursor: this list has only one page').optional() });
const READ = z.looseObject({ uri: z.string() });

export const CALL = z.looseObject({
  name: z.string(),
  arguments: z.custom<Readonly<Record<string, unknown>>>(isRecord, 'expected object').optional(),
});

export const PROMPT = z.looseObject({
  name: z.string(),
  arguments: z.record(z.string(), z.string('expected text')).optional(),
});

const COMPLETION = z.looseObject({
  ref: z.looseObject({ type: z.string(), uri: z.string().optional(), name: z.string().optional() }),
  argument: z.looseObject({ name: z.string(), value: z.string() }),
  context: z.looseObject({ arguments: z.record(z.string(), z.string()).optional() }).optional(),
});

type ServerPorts = CallPorts & { readonly version: string };

const identityOf = ({ version }: ServerPorts) => ({ name: 'muster', title: 'Muster', version });

/** The protocol of a client, and whether the client supports structured responses. */
type Client = Readonly<{ era: Era; readsStructure: boolean }>;

export const MODERN_CLIENT: Client = { era: 'modern', readsStructure: true };

/** Returns the extensions that this endpoint supports; nothing if it supports none. */
function extensionsOf(supported: Readonly<Record<string, boolean>>) {
  const names = Object.keys(supported).filter((name) => supported[name]);
  return names.length === 0 ? {} : { extensions: Object.fromEntries(names.map((name) => [name, {}])) };
}

/** Builds the server for one message. */
export function buildServer(ports: ServerPorts, routed: RoutedRequest, client: Client): sdk.Server {
  const { era } = client;
  const { listed, selected } = routed;
  const { resources, prompts } = listed;
  const { listed: fixed, templates, hasViews } = resources;
  const hasResources = fixed.length > 0 || templates.length > 0 || hasViews;
  const isCompletable = resources.completable || prompts.size > 0;
  // In the legacy revisions, subscriptions require a session, which Muster does not have.
  const subscribe = era === 'modern' && resources.watchable;
  const hasTasks = era === 'modern' && selected.hasTasks;
  const server = new sdk.Server(identityOf(ports), {
    supportedProtocolVersions: era === 'modern' ? [MODERN] : sdk.SUPPORTED_PROTOCOL_VERSIONS,
    capabilities: {
      tools: {},
      ...(hasResources && { resources: subscribe ? { subscribe } : {} }),
      ...(prompts.size > 0 && { prompts: {} }),
      ...(isCompletable && { completions: {} }),
      ...extensionsOf({ [VIEWS_EXTENSION]: hasViews, [TASKS_EXTENSION]: hasTasks }),
    },
    instructions: listed.instructions,
    cacheHints: CACHE_HINTS,
  });
  server.setRequestHandler('tools/call', { params: CALL }, (params, { mcpReq }) =>
    call(ports, { routed, client }, params, mcpReq),
  );
  if (hasTasks) serveTasks(server, ports, routed, (found, outcome) => ({ ...resultOf(found, outcome, client) }));
  if (prompts.size > 0) servePrompts(server, routed);
  if (isCompletable)
    server.setRequestHandler('completion/complete', { params: COMPLETION }, (params) =>
      complete(ports, routed, params),
    );
  if (!hasResources) return server;
  server.setRequestHandler('resources/list', { params: PAGE }, () => ({ resources: resources.listed }));
  server.setRequestHandler('resources/templates/list', { params: PAGE }, () => ({
    resourceTemplates: resources.templates,
  }));
  server.setRequestHandler('resources/read', { params: READ }, ({ uri }) => read(ports, routed, uri));
  return server;
}

/** Calls a tool. The response is the result, a question for the person at the client, or a task. */
async function call(
  ports: CallPorts,
  { routed, client }: { readonly routed: RoutedRequest; readonly client: Client },
  { name, arguments: args = {} }: z.output<typeof CALL>,
  mcpReq: sdk.ServerContext['mcpReq'],
): Promise<sdk.Result> {
  const { requestContext, listed, selected } = routed;
  const found = selected.findTool(name);
  if (found === undefined)
    throw new sdk.ProtocolError(sdk.INVALID_PARAMS, unknownTool(name, listed, requestContext.directory.tools));
  if (found.tool.taskOnly) requireTasks(mcpReq);
  const asking = client.era === 'modern' ? elicitationOf(mcpReq) : undefined;
  let task: McpTaskState | undefined;
  const respondWithTask = (state: McpTaskState) => {
    task = state;
  };
  const channel = {
    elicitation: asking?.elicitation,
    notify: (notification: Notification) => {
      // Sending fails only if the client has disconnected. Then the response fails too, and this is handled.
      mcpReq.notify({ ...notification }).catch(() => undefined);
    },
    progressToken: mcpReq._meta?.progressToken,
    bytesOf: sentBytes,
    ...(client.era === 'modern' && supportsTasks(mcpReq) && { respondWithTask }),
  };
  const outcome = await callTool(ports, requestContext, found, { args, channel });
  const isDone = 'answer' in outcome;
  if (asking?.request !== undefined && (isDone || outcome.error.code === 'APPROVAL_REQUIRED')) return asking.request;
  if (task !== undefined && isDone) return { resultType: 'task', ...taskFields(ports, task) };
  return { ...resultOf(found, outcome, client) };
}

async function read(ports: CallPorts, { requestContext, selected }: RoutedRequest, uri: string) {
  const found = selected.resources.find(uri);
  if (found === undefined) throw new sdk.ResourceNotFoundError(shownName(uri));
  try {
    const text = await readResource(ports, requestContext, found);
    const { mimeType, meta } = found;
    return { contents: [{ uri, mimeType, text, ...(meta && { _meta: meta }) }] };
  } catch (error) {
    if (!(error instanceof MusterError) || error.code !== 'NOT_FOUND') throw asProtocolError(error);
    throw new sdk.ResourceNotFoundError(shownName(uri), error.message);
  }
}

/** Maximum number of completed values in a response. Source: MCP 2025-11-25, "Completion". */
const MAX_VALUES = 100;

/** Returns values for a variable of a template, or an argument of a prompt. @throws ProtocolError if it is unknown */
async function complete(
  ports: CallPorts,
  routed: RoutedRequest,
  { ref, argument, context }: z.output<typeof COMPLETION>,
) {
  const chosen = context?.arguments ?? {};
  const variable =
    ref.type === 'ref/prompt' ? promptVariable(routed, ref, argument) : templateVariable(routed, ref, argument);
  try {
    const possible = await completeVariable(ports, routed.requestContext, { ...variable, chosen });
    const matching = [...new Set(possible)].filter((value) => value.startsWith(argument.value));
    const values = matching.slice(0, MAX_VALUES);
    return { completion: { values, total: matching.length, hasMore: matching.length > values.length } };
  } catch (error) {
    throw asProtocolError(error);
  }
}

type Ref = z.output<typeof COMPLETION>['ref'];
type Argument = z.output<typeof COMPLETION>['argument'];

function templateVariable({ selected }: RoutedRequest, { type, uri = '' }: Ref, { name }: Argument) {
  const found = type === 'ref/resource' ? selected.resources.findTemplate(uri) : undefined;
  if (found === undefined)
    throw new sdk.ProtocolError(sdk.INVALID_PARAMS, `Unknown resource template: ${shownName(uri || type)}`);
  const { need, template } = found;
  if (!template.uriTemplate.includes(`{${name}}`))
    throw new sdk.ProtocolError(sdk.INVALID_PARAMS, `${template.uriTemplate} has no variable ${shownName(name)}`);
  return { need, completion: template.completions.get(name) };
}

function promptVariable(routed: RoutedRequest, { name: promptName = '' }: Ref, { name }: Argument) {
  const { toolset, prompt } = findPrompt(routed, promptName);
  if (!prompt.arguments.some((one) => one.name === name))
    throw new sdk.ProtocolError(sdk.INVALID_PARAMS, `The prompt ${prompt.name} has no argument ${shownName(name)}`);
  const need = { toolset, what: `prompt ${prompt.name}`, role: 'viewer', scope: 'workspace', writes: false } as const;
  return { need, completion: prompt.completions[name] };
}

/** @throws ProtocolError if the URL selects no such prompt */
function findPrompt({ listed }: RoutedRequest, name: string): FoundPrompt {
  const found = listed.prompts.get(name);
  if (found !== undefined) return found;
  const known = [...listed.prompts.keys()].join(', ') || 'none';
  throw new sdk.ProtocolError(sdk.INVALID_PARAMS, `Unknown prompt: ${shownName(name)}. Prompts: ${known}.`);
}

function servePrompts(server: sdk.Server, routed: RoutedRequest): void {
  const { listed, requestContext } = routed;
  const shown = ({ prompt }: FoundPrompt) => {
    const { name, title, description } = prompt;
    return { name, title, description, arguments: prompt.arguments.map((one) => ({ ...one })) };
  };
  server.setRequestHandler('prompts/list', { params: PAGE }, () => ({
    prompts: [...listed.prompts.values()].map(shown),
  }));
  server.setRequestHandler('prompts/get', { params: PROMPT }, ({ name, arguments: given = {} }) => {
    const found = findPrompt(routed, name);
    try {
      const text = promptText(found.prompt, given, requestContext.directory.named);
      const { description } = found.prompt;
      return { description, messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }] };
    } catch (error) {
      throw error instanceof MusterError ? new sdk.ProtocolError(sdk.INVALID_PARAMS, error.message) : error;
    }
  });
}

function asProtocolError(error: unknown): unknown {
  return error instanceof MusterError ? new sdk.ProtocolError(ERROR_CODES[error.code], error.message) : error;
}

function resultOf(found: FoundTool, outcome: Outcome, { era, readsStructure }: Client): Partial<ToolResult> {
  const result = toolResult(found.errors, outcome, readsStructure ? found.tool.text : undefined);
  return era === 'legacy' ? legacyResult(found.errors, result) : result;
}

/** The last response with each list, and the part after the list. The next client often uses the same id. */
const LAST_RESPONSES = new WeakMap<Buffer, { readonly end: string; readonly response: Buffer }>();

function listResponse(list: Buffer, end: string): Buffer {
  const last = LAST_RESPONSES.get(list);
  if (last?.end === end) return last.response;
  const response = Buffer.concat([Buffer.from('{"result":{"tools":'), list, Buffer.from(end)]);
  LAST_RESPONSES.set(list, { end, response });
  return response;
}

/** Params of calls that use no other feature of the protocol, such as tasks or answers to questions. */
const PLAIN_PARAMS: readonly string[] = ['name', 'arguments', '_meta'];

/**
 * Responds without the SDK, whose objects and checks take longer than a cheap call, to `tools/list`, to `ping` and to
 * plain calls of known tools that need no stream. The bytes are those that the SDK would send. Undefined for other
 * requests.
 */
export function respondDirectly(
  ports: ServerPorts,
  { requestContext, listed, selected }: RoutedRequest,
  { id, method, params = {} }: sdk.JSONRPCRequest,
  client: Client,
): Promise<string> | Buffer | string | undefined {
  const { era } = client;
  if (method === 'ping' && era === 'legacy') return JSON.stringify({ result: {}, jsonrpc: '2.0', id });
  const isList = method === 'tools/list';
  const _meta = { [sdk.SERVER_INFO_META_KEY]: identityOf(ports) };
  const stamp = era === 'modern' ? { resultType: 'complete', ...(isList && LIST_CACHE), _meta } : {};
  if (isList) {
    const { principal, workspace } = requestContext;
    const list = listed.listFor(rolesOf(principal, workspace), principal.kind).json;
    const rest = JSON.stringify({ tools: [], ...stamp }).slice('{"tools":[]'.length);
    return listResponse(list, `${rest},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`);
  }
  const { name, arguments: args = {} } = params;
  const found = method === 'tools/call' && typeof name === 'string' ? selected.findTool(name) : undefined;
  const isPlain = isRecord(args) && Object.keys(params).every((one) => PLAIN_PARAMS.includes(one));
  if (found === undefined || !isPlain) return undefined;
  const channel = { notify: () => undefined, bytesOf: sentBytes };
  return callTool(ports, requestContext, found, { args, channel }).then((outcome) => {
    const result = { ...resultOf(found, outcome, client), ...stamp };
    return JSON.stringify({ result, jsonrpc: '2.0', id });
  });
}
