/**
 * The params of the protocol's own methods that the SDK would refuse with a dump of its checks, some of them as
 * an internal error.
 */

import { INVALID_PARAMS, type JSONRPCRequest } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { CallPorts } from '../call.ts';
import { isRecord } from '../jsonLimits.ts';
import type { RoutedRequest } from '../requestContext.ts';
import { CALL, methodOf } from './definitions.ts';

const INITIALIZE = z.looseObject({
  protocolVersion: z.string(),
  capabilities: z.looseObject({}),
  clientInfo: z.looseObject({ name: z.string(), version: z.string() }),
});

/** What is checked before the SDK looks, by the era in which the method exists. */
const CHECKED = {
  legacy: new Map<string, z.ZodObject>([
    ['initialize', INITIALIZE],
    ['tools/call', CALL],
  ]),
  modern: new Map<string, z.ZodObject>([['tools/call', CALL]]),
} as const;

/** The answer to a request whose params are wrong, as JSON; undefined where they are right. */
export function refusedParams(request: JSONRPCRequest, era: keyof typeof CHECKED): string | undefined {
  const { id, method, params = {} } = request;
  const checked = CHECKED[era].get(method)?.safeParse(params);
  if (checked === undefined || checked.success) return undefined;
  const wrong = checked.error.issues.map((issue) => {
    const name = `"${issue.path.join('.')}"`;
    if (valueAt(params, issue.path) !== undefined) return `${name}: ${issue.message}`;
    return `${name} is missing${issue.code === 'invalid_type' ? `, expected ${issue.expected}` : ''}`;
  });
  const error = { code: INVALID_PARAMS, message: `Invalid params for ${method}: ${wrong.join('; ')}.` };
  return JSON.stringify({ jsonrpc: '2.0', id, error });
}

function valueAt(holder: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => (isRecord(value) ? value[String(key)] : undefined), holder);
}

// What of MCP costs its caller as much as a call and never becomes one.

/**
 * Takes a token for each message that none will be taken for where it runs: pings, lists, notifications, what
 * names a method, a tool or a resource that there is not. So each message costs one, whatever becomes of it.
 * @throws MusterError RATE_LIMITED, before anything has run
 */
export async function charge(
  { limits }: Pick<CallPorts, 'limits'>,
  routed: RoutedRequest,
  body: unknown,
): Promise<void> {
  const messages: readonly unknown[] = Array.isArray(body) ? body : [body];
  for (const message of messages) {
    if (!isChargedAsItRuns(routed, message)) await limits.take(routed.requestContext.principal);
  }
}

function isChargedAsItRuns({ selected }: RoutedRequest, message: unknown): boolean {
  if (!isRecord(message) || !('id' in message) || !isRecord(message['params'])) return false;
  const { name, uri, arguments: given = {} } = message['params'];
  const method = methodOf(message);
  if (method === 'tools/call') {
    return typeof name === 'string' && isRecord(given) && selected.findTool(name) !== undefined;
  }
  return method === 'resources/read' && typeof uri === 'string' && selected.resources.find(uri) !== undefined;
}
