/** Calls tools as the signed-in person. Source: docs/guides/json-rpc.md. */
import type { z } from 'zod/mini';
import { common } from '../../text/common.ts';
import { fill, withLocalTimes } from '../../ui/format.ts';
import { workspace } from '../router.ts';
import { connection, idToken } from '../session/session.ts';

/** Error that a tool returned, with its reason code. */
export class ToolError extends Error {
  readonly code: string;
  readonly suggestion: string | undefined;

  constructor(code: string, message: string, suggestion?: string) {
    super(message);
    this.code = code;
    this.suggestion = suggestion;
  }
}

/** Timeout of a call, longer than the start of a new server instance takes. */
const TIMEOUT_MS = 60_000;

/** A call whose response is lost is sent once more. Its idempotency key keeps it from being executed twice. */
const MAX_ATTEMPTS = 2;

/**
 * @param method full name of the tool: `coordination.cancel_task`
 * @throws Refusal, or Error if the call's outcome is unknown
 */
export async function callTool<Schema extends z.ZodMiniType>(
  method: string,
  args: Readonly<Record<string, unknown>>,
  schema: Schema,
): Promise<z.output<Schema>> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: args });
  const answer = await post(body);
  if (isRecord(answer) && isRecord(answer['error'])) throw toolErrorOf(answer['error']);
  const result = schema.safeParse(isRecord(answer) ? answer['result'] : undefined);
  if (!result.success) throw new Error(fill(common.unexpected, { method }));
  return result.data;
}

/** Calls a tool that changes data. A retry does not repeat the change. */
export function act<Schema extends z.ZodMiniType>(
  method: string,
  args: Readonly<Record<string, unknown>>,
  schema: Schema,
): Promise<z.output<Schema>> {
  return callTool(method, { ...args, idempotency_key: crypto.randomUUID() }, schema);
}

/** A call of a tool by its full name. */
export interface Call {
  readonly method: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/**
 * Changes several items, at most 50, in one request. The server runs the calls in order, and continues if one is refused.
 * @returns the reason of each refused call
 * @throws Refusal if all calls were refused together; Error if their outcome is unknown
 */
export async function actBatch(calls: readonly Call[]): Promise<readonly (Error | undefined)[]> {
  const messages = calls.map(({ method, args }, id) => {
    return { jsonrpc: '2.0', id, method, params: { ...args, idempotency_key: crypto.randomUUID() } };
  });
  const answers = await post(JSON.stringify(messages));
  if (isRecord(answers) && isRecord(answers['error'])) throw toolErrorOf(answers['error']);
  const known = Array.isArray(answers) ? answers.filter(isRecord) : [];
  return calls.map(({ method }, id) => {
    const answer = known.find((one) => one['id'] === id);
    if (answer === undefined) return new Error(fill(common.unexpected, { method }));
    return isRecord(answer['error']) ? toolErrorOf(answer['error']) : undefined;
  });
}

async function post(body: string): Promise<unknown> {
  const url = `${connection().deployment.endpoint}/rpc?workspace=${encodeURIComponent(workspace.value)}`;
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${await idToken()}` },
        body,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      return await response.json();
    } catch {
      if (attempt < MAX_ATTEMPTS) continue;
      throw new Error(common.noAnswer);
    }
  }
}

function toolErrorOf(error: Readonly<Record<string, unknown>>): ToolError {
  const data = isRecord(error['data']) ? error['data'] : {};
  const suggestion = data['suggestion'];
  return new ToolError(
    String(data['code'] ?? error['code'] ?? ''),
    withLocalTimes(String(error['message'] ?? common.notAllowed)),
    typeof suggestion === 'string' ? withLocalTimes(suggestion) : undefined,
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
