/** What of MCP costs its caller as much as a call and never becomes one. */
import type { CallPorts } from './call.ts';
import { methodOf } from './definitions.ts';
import type { Serving } from './exchange.ts';
import { isRecord } from './structure.ts';

/**
 * Takes a token for each message that none will be taken for where it runs: pings, lists, notifications, what
 * names a method, a tool or a resource that there is not. So each message costs one, whatever becomes of it.
 * @throws MusterError RATE_LIMITED, before anything has run
 */
export async function charge(
  { limits }: Pick<CallPorts, 'limits'>,
  serving: Serving,
  body: unknown,
): Promise<void> {
  const messages: readonly unknown[] = Array.isArray(body) ? body : [body];
  for (const message of messages) {
    if (!isChargedAsItRuns(serving, message)) await limits.take(serving.exchange.principal);
  }
}

function isChargedAsItRuns({ selected }: Serving, message: unknown): boolean {
  if (!isRecord(message) || !('id' in message) || !isRecord(message['params'])) return false;
  const { name, uri, arguments: given = {} } = message['params'];
  const method = methodOf(message);
  if (method === 'tools/call') {
    return typeof name === 'string' && isRecord(given) && selected.findTool(name) !== undefined;
  }
  return method === 'resources/read' && typeof uri === 'string' && selected.resources.find(uri) !== undefined;
}
