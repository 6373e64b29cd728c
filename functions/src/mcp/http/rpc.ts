/**
 * Plain JSON-RPC 2.0: the method is a tool's full name, the params are its arguments, the result is its bare
 * answer. Source: spec/network.md, "Example Usage" and "Error Codes"; https://www.jsonrpc.org/specification.
 */

import { INVALID_PARAMS, INVALID_REQUEST } from '@modelcontextprotocol/server';
import { MusterError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { errorObject } from '../answer.ts';
import { type CallPorts, callTool } from '../call.ts';
import type { RoutedRequest } from '../callContext.ts';
import type { Catalogue } from '../catalogue.ts';
import { isRecord, shownName } from '../jsonLimits.ts';
import { didYouMean, fullName, nearestMethods } from '../names.ts';
import { type Answered, answerInTurn } from '../protocol/batch.ts';
import { type AgentPageName, agentPage } from '../selection.ts';
import { errorReply, type JsonReply } from './http.ts';
import { BadMessage, MAX_BATCH, MAX_ID_LENGTH, parseBody } from './message.ts';
import { refusalOf } from './refusal.ts';

/** Whatever JSON-RPC can answer goes with HTTP's 200. */
const ANSWERED = 200;

/** A notification, or a batch of nothing else, is run and gets no answer. */
const UNANSWERED: JsonReply = { status: 204, json: undefined };

/**
 * Serves one message, or a batch whose messages run one after another.
 * @throws MusterError RATE_LIMITED where there is no message to answer
 */
export async function serveRpc(ports: CallPorts, routed: RoutedRequest, bytes: Buffer): Promise<JsonReply> {
  try {
    return await serveBody(ports, routed, parseBody(bytes));
  } catch (error) {
    if (!(error instanceof BadMessage)) throw error;
    await ports.limits.take(routed.requestContext.principal);
    return errorReply(ANSWERED, error.code, error.message);
  }
}

async function serveBody(ports: CallPorts, routed: RoutedRequest, body: unknown): Promise<JsonReply> {
  if (!Array.isArray(body)) {
    const { json, silent } = await serveMessage(ports, routed, parseRequest(body));
    return silent ? UNANSWERED : { status: ANSWERED, json };
  }
  if (body.length === 0 || body.length > MAX_BATCH) {
    const what = `A batch holds 1 to ${MAX_BATCH} requests; this one holds ${body.length}.`;
    throw new BadMessage(INVALID_REQUEST, what);
  }
  const json = await answerInTurn(body.map(parseRequest), {
    answer: (request) => serveMessage(ports, routed, request),
    refuse: (request, error) => answered(request, { error: errorObject(error) }),
  });
  return json === undefined ? UNANSWERED : { status: ANSWERED, json };
}

async function serveMessage(
  ports: CallPorts,
  routed: RoutedRequest,
  request: Request | Invalid,
): Promise<Answered> {
  const response =
    'error' in request ? await charged(ports, routed, request.error) : await run(ports, routed, request);
  return answered(request, response);
}

type Response = { readonly result: JsonObject } | { readonly error: ErrorObject };

/** The response, which nobody is told where the message is a notification. */
function answered({ id }: Request | Invalid, response: Response): Answered {
  return { json: JSON.stringify({ jsonrpc: '2.0', id, ...response }), silent: id === undefined };
}

type Id = string | number | null;

interface Request {
  readonly method: string;
  readonly params: unknown;
  /** Undefined for a notification. */
  readonly id: Id | undefined;
}

interface ErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: JsonObject;
}

/** A message that is no request. It is always answered, since it is no notification either. */
interface Invalid {
  readonly error: ErrorObject;
  readonly id: Id;
}

function parseRequest(message: unknown): Request | Invalid {
  if (!isRecord(message)) return invalid(null, 'A request is an object.');
  const { jsonrpc, method, params, id } = message;
  const hasId = Object.hasOwn(message, 'id');
  if (hasId && !isId(id)) {
    return invalid(null, `An id is a number, null or a string of at most ${MAX_ID_LENGTH} characters.`);
  }
  const known = isId(id) ? id : null;
  if (jsonrpc !== '2.0') return invalid(known, '"jsonrpc" must be "2.0".');
  if (typeof method !== 'string') return invalid(known, '"method" must be a string.');
  if (params !== undefined && !isRecord(params) && !Array.isArray(params)) {
    return invalid(known, '"params" must be an object.');
  }
  return { method, params, id: hasId ? known : undefined };
}

function invalid(id: Id, why: string): Invalid {
  return { error: { code: INVALID_REQUEST, message: `Invalid Request: ${why}` }, id };
}

async function run(
  ports: CallPorts,
  routed: RoutedRequest,
  { method, params = {} }: Request,
): Promise<Response> {
  const { requestContext, listed, selected } = routed;
  const found = selected.findTool(method);
  if (found === undefined) return charged(ports, routed, errorObject(unknownMethod(method, listed)));
  if (!isRecord(params)) return charged(ports, routed, BY_POSITION);
  const outcome = await callTool(ports, requestContext, found, params);
  return 'answer' in outcome ? { result: outcome.answer } : { error: errorObject(outcome.error) };
}

/** An error costs as much as the call that it stands for, or the caller is told that there were too many. */
async function charged(
  { limits }: CallPorts,
  { requestContext }: RoutedRequest,
  error: ErrorObject,
): Promise<{ readonly error: ErrorObject }> {
  try {
    await limits.take(requestContext.principal);
    return { error };
  } catch (limited) {
    if (!(limited instanceof MusterError)) throw limited;
    return { error: errorObject(limited) };
  }
}

const BY_POSITION: ErrorObject = {
  code: INVALID_PARAMS,
  message: 'Invalid params: arguments go by name.',
  data: { field: 'params', reason: 'BY_POSITION', suggestion: 'Send params as an object.' },
};

function unknownMethod(method: string, { methods }: Catalogue): MusterError {
  return new MusterError('METHOD_NOT_FOUND', `There is no method "${shownName(method)}".`, {
    field: 'method',
    suggestion: instead(method, methods),
  });
}

/** What to call in place of a method that is not there. */
function instead(method: string, methods: readonly string[]): string {
  if (method === 'initialize' || method.includes('/'))
    return 'MCP is spoken at /mcp. This is plain JSON-RPC.';
  const near = nearestMethods(method, methods);
  if (near.length > 0) return didYouMean(near);
  return methods.length === 0 ? 'This URL selects no tool.' : `Methods: ${methods.join(', ')}.`;
}

function isId(value: unknown): value is Id {
  if (typeof value === 'string') return value.length <= MAX_ID_LENGTH;
  return value === null || (typeof value === 'number' && Number.isFinite(value));
}

// Answers a page of an agent's.

/** @throws Refusal with the status that the error has over HTTP */
export async function serveAgentPage(
  ports: CallPorts,
  { requestContext, selected }: RoutedRequest,
  name: AgentPageName,
): Promise<JsonReply> {
  const { toolset, tool, argumentsFor } = agentPage(name);
  const found = selected.findTool(fullName(toolset, tool));
  if (found === undefined) throw new Error(`The toolset ${toolset} has no tool ${tool}.`);
  const outcome = await callTool(ports, requestContext, found, argumentsFor(requestContext.principal));
  if ('error' in outcome) throw refusalOf(outcome.error);
  return { status: 200, json: JSON.stringify(outcome.answer) };
}
