/** Gemini CLI. Source: its docs/cli/headless.md, and its StreamJsonFormatter. */
import { z } from 'zod';
import { type AgentEvent, type CodingCli, eventReader, type RunWishes } from './cli.ts';

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
    parameters: z
      .looseObject({ command: z.string().optional(), file_path: z.string().optional() })
      .optional(),
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
    stats: z
      .looseObject({
        input_tokens: z.number().default(0),
        output_tokens: z.number().default(0),
        cached: z.number().default(0),
      })
      .optional(),
  }),
]);
type Event = z.output<typeof event>;
type ResultEvent = Extract<Event, { type: 'result' }>;

export const gemini: CodingCli = {
  tool: 'GEMINI',
  program: 'gemini',
  arguments: ({ model, allowedTools, unsafe }: RunWishes) => [
    '-p',
    '', // added to what comes on standard input
    '--output-format',
    'stream-json',
    '--approval-mode',
    unsafe ? 'yolo' : 'auto_edit',
    '--skip-trust', // whoever started the runner on the repository trusts it
    ...(allowedTools.length > 0 ? ['--allowed-tools', ...allowedTools] : []),
    ...(model === undefined ? [] : ['-m', model]),
  ],
  read: eventReader(event, eventsOf),
};

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

/** It tells of no turns and no cost, and what it said at the end comes as messages before. */
function resultOf({ status, error, stats }: ResultEvent): AgentEvent {
  return {
    kind: 'result',
    succeeded: status === 'success',
    text: error === undefined ? '' : `${error.type ?? 'Error'}: ${error.message}`,
    httpStatus: undefined,
    turns: undefined,
    tokens: stats && { input: stats.input_tokens, output: stats.output_tokens, cacheRead: stats.cached },
    costUsd: undefined,
  };
}
