/**
 * The params of the protocol's own methods that the SDK would refuse with a dump of its checks, some of them as
 * an internal error.
 */
import { INVALID_PARAMS, type JSONRPCRequest } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { isRecord } from './structure.ts';

const INITIALIZE = z.looseObject({
  protocolVersion: z.string(),
  capabilities: z.looseObject({}),
  clientInfo: z.looseObject({ name: z.string(), version: z.string() }),
});

export const CALL = z.looseObject({
  name: z.string(),
  arguments: z.custom<Readonly<Record<string, unknown>>>(isRecord, 'expected object').optional(),
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
