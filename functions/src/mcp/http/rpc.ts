/**
 * Plain JSON-RPC 2.0: the method is a tool's full name, `params` are its arguments, `result` is its response. Source:
 * the network specification, "Example Usage" and "Error Codes"; https://www.jsonrpc.org/specification.
 */
import { INVALID_PARAMS, INVALID_REQUEST } from '@modelcontextprotocol/server';
import { MusterError, shownName } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { hasAtMost } from '../../kernel/text.ts';
import { type CallPorts, callTool } from '../call.ts';
import type { RoutedRequest } from '../catalog.ts';
import { didYouMean, nearestMethods } from '../names.ts';
import { type BatchResponse, respondSequentially } from '../protocol/batch.ts';
import { fullName } from '../tool.ts';
import { errorObject } from '../toolResponse.ts';
import { AGENT_PAGES, type AgentPageName } from '../urlSelection.ts';
import { isRecord } from '../validation.ts';
import { BadMessage, MAX_BATCH, MAX_ID_LENGTH, parseBody } from './body.ts';
import { rejectionOf } from './rejection.ts';
import { errorReply, type JsonReply } from './response.ts';

/**
 * Responds to a message or batch, with HTTP status 200 even for errors.
 * @throws MusterError RATE_LIMITED if the body contains no valid message
 */
export async function serveRpc(ports: CallPorts, routed: RoutedRequest, bytes: Buffer): Promise<JsonReply> {
  try {
    const json = await respondToBody(ports, routed, parseBody(bytes));
    // The body is undefined if all messages were notifications, which get no response.
    return { status: json === undefined ? 204 : 200, json };
  } catch (error) {
    if (!(error instanceof BadMessage)) throw error;
    await ports.limits.take(routed.requestContext.principal);
    return errorReply(200, error.code, error.message);
  }
}

async function respondToBody(ports: CallPorts, routed: RoutedRequest, body: unknown) {
  const respond = async (request: Request) => answered(request, await run(ports, routed, request).catch(errorOf));
  if (!Array.isArray(body)) {
    const { json, silent } = await respond(parseRequest(body));
    return silent ? undefined : json;
  }
  if (body.length === 0 || body.length > MAX_BATCH) {
    const what = `A batch must contain 1 to ${MAX_BATCH} requests; this one contains ${body.length}.`;
    throw new BadMessage(INVALID_REQUEST, what);
  }
  const reject = (request: Request, error: MusterError) => answered(request, errorOf(error));
  return respondSequentially(body.map(parseRequest), { respond, reject });
}

type Response = { readonly result: JsonObject } | { readonly error: ReturnType<typeof errorObject> };

/** Returns the response to a request. The response to a notification is marked as not to be sent. */
function answered({ id }: Request, response: Response | { readonly error: Fault }): BatchResponse {
  return { json: JSON.stringify({ jsonrpc: '2.0', id, ...response }), silent: id === undefined };
}

function errorOf(error: unknown): Response {
  if (!(error instanceof MusterError)) throw error;
  return { error: errorObject(error) };
}

type Id = string | number | null;

interface Fault {
  readonly code: number;
  readonly message: string;
  readonly data?: JsonObject;
}

interface Request {
  /** The method, or the error of an invalid request, which always gets a response. */
  readonly method: string | Fault;
  readonly params?: unknown;
  /** Undefined if the message is a notification. */
  readonly id: Id | undefined;
}

function parseRequest(message: unknown): Request {
  if (!isRecord(message)) return invalid(null, 'A request must be an object.');
  const { jsonrpc, method, id } = message;
  const params = message['params'] ?? undefined;
  const hasId = Object.hasOwn(message, 'id');
  if (hasId && !isId(id))
    return invalid(null, `"id" must be a number, null or a string of at most ${MAX_ID_LENGTH} characters.`);
  const known = isId(id) ? id : null;
  if (jsonrpc !== '2.0') return invalid(known, '"jsonrpc" must be "2.0".');
  if (typeof method !== 'string') return invalid(known, '"method" must be a string.');
  if (params !== undefined && !isRecord(params) && !Array.isArray(params))
    return invalid(known, '"params" must be an object.');
  return { method, params, id: hasId ? known : undefined };
}

function invalid(id: Id, why: string): Request {
  return { method: { code: INVALID_REQUEST, message: `Invalid Request: ${why}` }, id };
}

function isId(value: unknown): value is Id {
  if (typeof value === 'string') return hasAtMost(value, MAX_ID_LENGTH);
  return value === null || (typeof value === 'number' && Number.isFinite(value));
}

const BY_POSITION: Fault = {
  code: INVALID_PARAMS,
  message: 'Invalid params: arguments must be passed by name.',
  data: { field: 'params', reason: 'BY_POSITION', suggestion: 'Send params as an object.' },
};

/** Runs a request. Errors count towards the rate limit. @throws MusterError RATE_LIMITED, METHOD_NOT_FOUND */
async function run(
  ports: CallPorts,
  { requestContext, listed, selected }: RoutedRequest,
  { method, params = {} }: Request,
): Promise<Response | { readonly error: Fault }> {
  const found = typeof method === 'string' ? selected.findTool(method) : undefined;
  if (found !== undefined && isRecord(params)) {
    const outcome = await callTool(ports, requestContext, found, { args: params });
    return 'answer' in outcome ? { result: outcome.answer } : errorOf(outcome.error);
  }
  await ports.limits.take(requestContext.principal);
  if (typeof method !== 'string') return { error: method };
  if (found !== undefined) return { error: BY_POSITION };
  throw new MusterError('METHOD_NOT_FOUND', `Unknown method "${shownName(method)}".`, {
    field: 'method',
    suggestion: suggestMethod(method, listed.methods),
  });
}

function suggestMethod(method: string, methods: readonly string[]): string {
  if (method === 'initialize' || method.includes('/')) return 'For MCP, use /mcp. This endpoint is plain JSON-RPC.';
  const near = nearestMethods(method, methods);
  if (near.length > 0) return didYouMean(near);
  return methods.length === 0 ? 'This URL does not select any tool.' : `Methods: ${methods.join(', ')}.`;
}

/** Responds to a request for an agent page. @throws HttpRejection with the HTTP status of the tool's error */
export async function serveAgentPage(
  ports: CallPorts,
  { requestContext, selected }: RoutedRequest,
  name: AgentPageName,
): Promise<JsonReply> {
  const { toolset, tool, argumentsFor } = AGENT_PAGES[name];
  const found = selected.findTool(fullName(toolset, tool));
  if (found === undefined) throw new Error(`The toolset ${toolset} has no tool ${tool}.`);
  const args = argumentsFor(requestContext.principal);
  const outcome = await callTool(ports, requestContext, found, { args });
  if ('error' in outcome) throw rejectionOf(outcome.error);
  return { status: 200, json: JSON.stringify(outcome.answer) };
}
