/** `completion/complete`: the values that a variable of a resource template may have. */
import { INVALID_PARAMS, ProtocolError } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { ERROR_CODES, MusterError } from '../domain/errors.ts';
import { type CallPorts, completeVariable } from './call.ts';
import type { Exchange } from './exchange.ts';
import type { Resources } from './resources.ts';
import { shownName } from './structure.ts';

/** The most that one answer holds. Source: MCP 2025-11-25, "Completion". */
const MAX_VALUES = 100;

export const COMPLETION = z.looseObject({
  ref: z.looseObject({ type: z.string(), uri: z.string().optional() }),
  argument: z.looseObject({ name: z.string(), value: z.string() }),
  context: z.looseObject({ arguments: z.record(z.string(), z.string()).optional() }).optional(),
});

/** @throws ProtocolError where there is no such template or variable */
export async function complete(
  ports: CallPorts,
  exchange: Exchange,
  resources: Resources,
  { ref, argument, context }: z.output<typeof COMPLETION>,
): Promise<{ completion: { values: string[]; total: number; hasMore: boolean } }> {
  const found = ref.type === 'ref/resource' ? resources.findTemplate(ref.uri ?? '') : undefined;
  if (found === undefined) {
    throw new ProtocolError(INVALID_PARAMS, `Unknown resource template: ${shownName(ref.uri ?? ref.type)}`);
  }
  const { uriTemplate } = found.template;
  if (!uriTemplate.includes(`{${argument.name}}`)) {
    throw new ProtocolError(INVALID_PARAMS, `${uriTemplate} has no variable ${shownName(argument.name)}`);
  }
  try {
    const chosen = context?.arguments ?? {};
    const possible = await completeVariable(ports, exchange, found, argument.name, chosen);
    const matching = [...new Set(possible)].filter((value) => value.startsWith(argument.value));
    const values = matching.slice(0, MAX_VALUES);
    return {
      completion: { values, total: matching.length, hasMore: matching.length > values.length },
    };
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    throw new ProtocolError(ERROR_CODES[error.code], error.message);
  }
}
