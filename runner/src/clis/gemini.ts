/** Adapter for Gemini CLI. Source: its docs/cli/headless.md, and its StreamJsonFormatter. */
import { z } from 'zod';
import { type AgentEvent, type CodingCli, count, eventReader, type RunWishes, type Tokens } from './cli.ts';
import { writePolicies } from './geminiPolicy.ts';

const event = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('init'), model: z.string().optional() }),
  z.looseObject({
    type: z.literal('message'),
    role: z.string(),
    content: z.string(),
    delta: z.boolean().default(false),
  }),
  z.looseObject({
    type: z.literal('tool_use'),
    tool_name: z.string(),
    parameters: z.looseObject({ command: z.string().optional(), file_path: z.string().optional() }).optional(),
  }),
  z.looseObject({
    type: z.literal('tool_result'),
    status: z.string(),
    output: z.string().optional(),
    error: z.looseObject({ message: z.string() }).optional(),
  }),
  z.looseObject({ type: z.literal('error'), message: z.string() }),
  z.looseObject({
    type: z.literal('result'),
    status: z.string(),
    error: z.looseObject({ type: z.string().optional(), message: z.string() }).optional(),
    stats: z.looseObject({ total_tokens: count, input_tokens: count, output_tokens: count, cached: count }).nullish(),
  }),
]);
type Event = z.output<typeof event>;
type ResultEvent = Extract<Event, { type: 'result' }>;

export const gemini: CodingCli = {
  tool: 'GEMINI',
  program: 'gemini',
  // Gemini CLI 0.61.0 reads every "@" as a reference, unless a backslash precedes it.
  reference: /(?<!\\)@/g,
  prepare: (wishes, place) => {
    // The flag --allowed-tools is not used, because it splits its values at commas and replaces the user's own list.
    const policies = writePolicies(wishes.allowedTools, place);
    return { args: argumentsOf(wishes, policies.paths), dispose: policies.remove };
  },
  read: eventReader(event, eventsOf),
};

function argumentsOf({ model, unsafe }: RunWishes, policies: readonly string[]): readonly string[] {
  return [
    '-p',
    '', // The prompt comes from standard input.
    '--output-format',
    'stream-json',
    '--approval-mode',
    unsafe ? 'yolo' : 'auto_edit',
    '--skip-trust', // The owner started the runner for this folder, and so has shown that they trust it.
    ...policies.map((path) => `--policy=${path}`),
    ...(model === undefined ? [] : ['-m', model]),
  ];
}

function eventsOf(one: Event): readonly AgentEvent[] {
  switch (one.type) {
    case 'init':
      return [{ kind: 'started', model: one.model }];
    case 'message':
      return one.role === 'assistant' ? [{ kind: 'said', text: one.content, partial: one.delta }] : [];
    case 'tool_use': {
      const { command, file_path: file } = one.parameters ?? {};
      return [{ kind: 'toolUse', tool: one.tool_name, command, file }];
    }
    case 'tool_result': {
      const failed = one.status !== 'success';
      return [{ kind: 'toolResult', failed, text: one.output ?? one.error?.message ?? '' }];
    }
    case 'error':
      return [{ kind: 'warned', text: one.message }];
    case 'result':
      return [resultOf(one)];
  }
}

/** Gemini CLI reports neither turns nor cost. The messages before this event contain the final text. */
function resultOf({ status, error, stats }: ResultEvent): AgentEvent {
  return {
    kind: 'result',
    succeeded: status === 'success',
    text: error === undefined ? '' : `${error.type ?? 'Error'}: ${error.message}`,
    httpStatus: undefined,
    turns: undefined,
    tokens: stats == null ? undefined : tokensOf(stats),
    tokensOf: 'session',
    costUsd: undefined,
  };
}

type Stats = NonNullable<ResultEvent['stats']>;

/**
 * Gemini CLI includes cached tokens in its input tokens, but counts thoughts only in the total, although they are
 * billed as output. It does not report tokens written to a cache.
 */
function tokensOf({ total_tokens: total, input_tokens: input, output_tokens: output, cached }: Stats): Tokens {
  return {
    input: Math.max(0, input - cached),
    output: Math.max(output, total - input),
    cacheRead: cached,
    cacheWrite: 0,
  };
}
