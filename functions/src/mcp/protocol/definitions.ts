/** Handlers of the MCP methods, with definitions that are prepared once per instance. */

import {
  CLIENT_CAPABILITIES_META_KEY,
  INVALID_PARAMS,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  ProtocolError,
  ResourceNotFoundError,
  Server,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { rolesOf } from '../../identity/rules/principal.ts';
import { ERROR_CODES, MusterError, shownName } from '../../kernel/errors.ts';
import { sentBytes } from '../../kernel/json.ts';
import { type CallPorts, callTool, completeVariable, readResource } from '../call.ts';
import type { Elicitation, Notification } from '../callContext.ts';
import type { RoutedRequest } from '../catalog.ts';
import { unknownTool } from '../names.ts';
import { VIEWS_EXTENSION } from '../resources.ts';
import { legacyResult, toolResult } from '../toolResponse.ts';
import { isRecord } from '../validation.ts';

/** Revisions with a handshake, up to 2025-11-25, or without one, from 2026-07-28. */
export type Era = 'legacy' | 'modern';

/** The only revision without sessions so far. */
export const MODERN = '2026-07-28';

/** Time for which clients may cache lists, which change only with a deployment. */
const LIST_CACHE = { ttlMs: 300_000, cacheScope: 'private' } as const;

const CACHE_HINTS = {
  'tools/list': LIST_CACHE,
  'resources/list': LIST_CACHE,
  'resources/templates/list': LIST_CACHE,
  'server/discover': LIST_CACHE,
};

// The schemas of the methods replace the SDK's own, whose refusals it reports as internal errors.

/** All lists have one page, so every cursor is invalid. */
const PAGE = z.looseObject({ cursor: z.undefined('invalid cursor: this list has only one page').optional() });

const READ = z.looseObject({ uri: z.string() });

export const CALL = z.looseObject({
  name: z.string(),
  arguments: z.custom<Readonly<Record<string, unknown>>>(isRecord, 'expected object').optional(),
});

const COMPLETION = z.looseObject({
  ref: z.looseObject({ type: z.string(), uri: z.string().optional() }),
  argument: z.looseObject({ name: z.string(), value: z.string() }),
  context: z.looseObject({ arguments: z.record(z.string(), z.string()).optional() }).optional(),
});

/** Builds the server of one message. @param readsStructure whether the client supports structured responses */
export function buildServer(
  ports: CallPorts & { readonly version: string },
  routed: RoutedRequest,
  era: Era,
  readsStructure = true,
): Server {
  const { requestContext, listed, selected } = routed;
  const { resources } = listed;
  const { listed: fixed, templates, hasViews } = resources;
  const hasResources = fixed.length > 0 || templates.length > 0 || hasViews;
  // Subscriptions of the 2025 revisions need sessions.
  const subscribe = era === 'modern' && resources.watchable;
  const server = new Server(
    { name: 'muster', title: 'Muster', version: ports.version },
    {
      supportedProtocolVersions: era === 'modern' ? [MODERN] : SUPPORTED_PROTOCOL_VERSIONS,
      capabilities: {
        tools: {},
        ...(hasResources && { resources: subscribe ? { subscribe } : {} }),
        ...(resources.completable && { completions: {} }),
        ...(hasViews && { extensions: { [VIEWS_EXTENSION]: {} } }),
      },
      instructions: listed.instructions,
      cacheHints: CACHE_HINTS,
    },
  );
  server.setRequestHandler('tools/list', { params: PAGE }, () => NO_TOOLS_YET);
  server.setRequestHandler('tools/call', { params: CALL }, async ({ name, arguments: args = {} }, context) => {
    const found = selected.findTool(name);
    if (found === undefined)
      throw new ProtocolError(INVALID_PARAMS, unknownTool(name, listed, requestContext.directory.tools));
    const asking = era === 'modern' ? elicitationOf(context.mcpReq) : undefined;
    const channel = {
      elicitation: asking?.elicitation,
      notify: (notification: Notification) => {
        // Sending fails only if the client has disconnected, which the response detects, too.
        context.mcpReq.notify({ ...notification }).catch(() => undefined);
      },
      progressToken: context.mcpReq._meta?.progressToken,
      bytesOf: sentBytes,
    };
    const outcome = await callTool(ports, requestContext, found, { args, channel });
    if (asking?.request !== undefined && 'answer' in outcome) return asking.request;
    const result = toolResult(found.errors, outcome, readsStructure ? found.tool.text : undefined);
    return { ...(era === 'legacy' ? legacyResult(found.errors, result) : result) };
  });
  if (!hasResources) return server;
  server.setRequestHandler('resources/list', { params: PAGE }, () => ({ resources: resources.listed }));
  server.setRequestHandler('resources/templates/list', { params: PAGE }, () => ({
    resourceTemplates: resources.templates,
  }));
  server.setRequestHandler('resources/read', { params: READ }, ({ uri }) => read(ports, routed, uri));
  if (!resources.completable) return server;
  server.setRequestHandler('completion/complete', { params: COMPLETION }, (params) => complete(ports, routed, params));
  return server;
}

async function read(ports: CallPorts, { requestContext, selected }: RoutedRequest, uri: string) {
  const found = selected.resources.find(uri);
  if (found === undefined) throw new ResourceNotFoundError(shownName(uri));
  try {
    const text = await readResource(ports, requestContext, found);
    const { mimeType, meta } = found;
    return { contents: [{ uri, mimeType, text, ...(meta && { _meta: meta }) }] };
  } catch (error) {
    if (!(error instanceof MusterError) || error.code !== 'NOT_FOUND') throw asProtocolError(error);
    throw new ResourceNotFoundError(shownName(uri), error.message);
  }
}

/** Maximum number of values. Source: MCP 2025-11-25, "Completion". */
const MAX_VALUES = 100;

/** Completes a template's variable. @throws ProtocolError if the template or the variable is unknown */
async function complete(
  ports: CallPorts,
  { requestContext, selected }: RoutedRequest,
  { ref, argument, context }: z.output<typeof COMPLETION>,
) {
  const found = ref.type === 'ref/resource' ? selected.resources.findTemplate(ref.uri ?? '') : undefined;
  if (found === undefined) {
    throw new ProtocolError(INVALID_PARAMS, `Unknown resource template: ${shownName(ref.uri ?? ref.type)}`);
  }
  const { uriTemplate } = found.template;
  if (!uriTemplate.includes(`{${argument.name}}`)) {
    throw new ProtocolError(INVALID_PARAMS, `${uriTemplate} has no variable ${shownName(argument.name)}`);
  }
  try {
    const asked = { variable: argument.name, chosen: context?.arguments ?? {} };
    const possible = await completeVariable(ports, requestContext, found, asked);
    const matching = [...new Set(possible)].filter((value) => value.startsWith(argument.value));
    const values = matching.slice(0, MAX_VALUES);
    return { completion: { values, total: matching.length, hasMore: matching.length > values.length } };
  } catch (error) {
    throw asProtocolError(error);
  }
}

function asProtocolError(error: unknown): unknown {
  return error instanceof MusterError ? new ProtocolError(ERROR_CODES[error.code], error.message) : error;
}

const NO_TOOLS_YET = { tools: [] };
const NO_TOOLS_JSON = '"tools":[]';

/**
 * Inserts the list, serialized and encoded once per instance, into the response that the SDK created with an empty
 * list. The SDK serializes every response again, and this list is by far the longest. The empty list can be found as
 * text, because the quote before `:` would be escaped within a JSON string.
 */
export function withTools(json: string, message: unknown, { listed, requestContext }: RoutedRequest): string | Buffer {
  const at = methodOf(message) === 'tools/list' ? json.indexOf(NO_TOOLS_JSON) : -1;
  if (at < 0) return json;
  const start = at + NO_TOOLS_JSON.length - '[]'.length;
  const [before, after] = [json.slice(0, start), json.slice(start + '[]'.length)];
  const { principal, workspace } = requestContext;
  const list = listed.listFor(rolesOf(principal, workspace), principal.kind).json;
  return Buffer.concat([Buffer.from(before), list, Buffer.from(after)]);
}

/** Returns the method of a request or a notification. */
export function methodOf(message: unknown): unknown {
  return isRecord(message) ? message['method'] : undefined;
}

// Questions from the client to its user. In 2025 revisions they need a server request on a session, which Muster does
// not have. In 2026-07-28, the response contains the question, and the client repeats the call with the answer.
// Source: MCP 2026-07-28, "Multi Round-Trip Requests"; docs/decisions/0033-asking-people.md.

/** Capabilities that a client declares. */
const envelope = z.looseObject({
  [CLIENT_CAPABILITIES_META_KEY]: z.looseObject({
    elicitation: z.looseObject({ form: z.looseObject({}).optional(), url: z.looseObject({}).optional() }),
  }),
});

interface ModernCall {
  readonly envelope?: unknown;
  readonly inputResponses?: Record<string, unknown>;
}

interface ElicitationState {
  readonly elicitation: Elicitation;
  /** Question for the client, if the call asked one. */
  readonly request: InputRequiredResult | undefined;
}

/** Returns undefined if the client shows no forms. */
export function elicitationOf({ envelope: said, inputResponses }: ModernCall): ElicitationState | undefined {
  const { data } = envelope.safeParse(said);
  if (data === undefined) return undefined;
  const { form, url } = data[CLIENT_CAPABILITIES_META_KEY].elicitation;
  // Clients that declare no mode support forms.
  if (form === undefined && url !== undefined) return undefined;
  let asked: InputRequiredResult | undefined;
  return {
    elicitation: {
      response(key) {
        const response = inputResponse(inputResponses, key);
        if (response.kind !== 'elicit') return undefined;
        const { action, content } = response;
        return { action, ...(content && { content }) };
      },
      ask(key, { message, field, title, options }) {
        const text = { type: 'string' as const, title };
        const property = options === undefined ? text : { ...text, enum: [...options] };
        const requestedSchema = { type: 'object' as const, properties: { [field]: property }, required: [field] };
        asked = inputRequired({ inputRequests: { [key]: inputRequired.elicit({ message, requestedSchema }) } });
      },
    },
    get request() {
      return asked;
    },
  };
}
