/** Adapter for Claude Code. Source: https://code.claude.com/docs/en/headless, and the types of its Agent SDK. */
import { z } from 'zod';
import { milliseconds } from '../outage/reset.ts';
import {
  type AgentEvent,
  addTokens,
  type CodingCli,
  count,
  eventReader,
  NO_TOKENS,
  type RunWishes,
  type Tokens,
} from './cli.ts';

const textParts = z.array(z.looseObject({ type: z.string(), text: z.string().optional() }));

const part = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  name: z.string().optional(),
  input: z
    .looseObject({
      command: z.string().optional(),
      file_path: z.string().optional(),
      notebook_path: z.string().optional(),
    })
    .optional(),
  content: z.union([z.string(), textParts]).optional(),
  is_error: z.boolean().nullish(),
});
type Part = z.output<typeof part>;
const message = z.looseObject({ content: z.union([z.string(), z.array(part)]) });

const event = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('system'),
    subtype: z.string().optional(),
    model: z.string().optional(),
    /** `none` if Claude Code uses a subscription login or a cloud provider. */
    apiKeySource: z.string().optional(),
    attempt: z.number().optional(),
    max_retries: z.number().optional(),
    error_status: z.number().nullish(),
    error: z.string().optional(),
  }),
  z.looseObject({ type: z.literal('assistant'), message }),
  z.looseObject({ type: z.literal('user'), message }),
  z.looseObject({
    type: z.literal('rate_limit_event'),
    rate_limit_info: z.looseObject({ status: z.string(), resetsAt: z.number().optional() }).optional(),
  }),
  z.looseObject({
    type: z.literal('result'),
    subtype: z.string().optional(),
    is_error: z.boolean().default(false),
    api_error_status: z.number().nullish(),
    result: z.string().optional(),
    errors: z.array(z.string()).optional(),
    num_turns: z.number().optional(),
    total_cost_usd: z.number().optional(),
    usage: z
      .looseObject({
        input_tokens: count,
        output_tokens: count,
        cache_read_input_tokens: count,
        cache_creation_input_tokens: count,
      })
      .nullish(),
    modelUsage: z
      .record(
        z.string(),
        z.looseObject({
          inputTokens: count,
          outputTokens: count,
          cacheReadInputTokens: count,
          cacheCreationInputTokens: count,
        }),
      )
      .nullish(),
  }),
]);
type Event = z.output<typeof event>;
type SystemEvent = Extract<Event, { type: 'system' }>;
type ResultEvent = Extract<Event, { type: 'result' }>;

const WITHOUT_KEY: readonly string[] = ['none', 'oauth'];

export const claude: CodingCli = {
  tool: 'CLAUDECODE',
  program: 'claude',
  // Claude Code 2.1.197 reads "@" as a reference only after a space or some punctuation, so not in email addresses.
  reference: /(?<![\w\\])@/g,
  prepare: (wishes) => ({ args: argumentsOf(wishes), dispose: () => undefined }),
  read: eventReader(event, eventsOf),
};

function argumentsOf({ model, allowedTools, unsafe }: RunWishes): readonly string[] {
  return [
    '-p',
    '--output-format',
    'stream-json',
    '--verbose',
    ...(unsafe ? ['--dangerously-skip-permissions'] : ['--permission-mode', 'acceptEdits']),
    '--settings',
    JSON.stringify(settingsOf(allowedTools)),
    ...(model === undefined ? [] : ['--model', model]),
  ];
}

/**
 * Returns settings that Claude Code applies in addition to the user's own. The flag `--allowedTools` is not used: it
 * splits its values at commas and spaces outside brackets, so `Bash(ls) Bash Read(x)` would allow the whole shell.
 */
function settingsOf(allowedTools: readonly string[]) {
  return {
    // The word "ultracode" in a task would otherwise start many agents.
    workflowKeywordTriggerEnabled: false,
    ...(allowedTools.length > 0 && { permissions: { allow: allowedTools } }),
  };
}

function eventsOf(one: Event): readonly AgentEvent[] {
  switch (one.type) {
    case 'system':
      return systemEvent(one);
    case 'assistant':
      return partsOf(one.message).flatMap(assistantEvent);
    case 'user':
      return partsOf(one.message).flatMap(resultEvent);
    case 'rate_limit_event':
      return limitEvent(one.rate_limit_info);
    case 'result':
      return [resultOf(one)];
  }
}

/** Claude Code also sends this event while requests are allowed, to report the remaining usage. */
function limitEvent(info: { status: string; resetsAt?: number | undefined } | undefined): AgentEvent[] {
  if (info?.status !== 'rejected') return [];
  return [{ kind: 'limited', endsAt: info.resetsAt === undefined ? undefined : milliseconds(info.resetsAt) }];
}

function systemEvent({ subtype, model, apiKeySource, ...retry }: SystemEvent): AgentEvent[] {
  if (subtype === 'init') {
    const hasKey = apiKeySource === undefined ? undefined : !WITHOUT_KEY.includes(apiKeySource);
    return [{ kind: 'started', model, ...(hasKey !== undefined && { hasKey }) }];
  }
  if (subtype !== 'api_retry') return [];
  const { attempt = 0, max_retries = 0, error = 'error', error_status } = retry;
  const text = `The model responded with ${error}; retry ${attempt} of ${max_retries}.`;
  return [{ kind: 'warned', text, httpStatus: error_status ?? undefined }];
}

function partsOf({ content }: z.output<typeof message>): readonly Part[] {
  return typeof content === 'string' ? [] : content;
}

function assistantEvent({ type, text, name, input }: Part): AgentEvent[] {
  if (type === 'text' && text) return [{ kind: 'said', text, partial: false }];
  if (type !== 'tool_use' || name === undefined) return [];
  return [{ kind: 'toolUse', tool: name, command: input?.command, file: input?.file_path ?? input?.notebook_path }];
}

function resultEvent({ type, content = '', is_error }: Part): AgentEvent[] {
  if (type !== 'tool_result') return [];
  const text = typeof content === 'string' ? content : content.map((one) => one.text ?? '').join('\n');
  return [{ kind: 'toolResult', failed: is_error === true, text }];
}

function resultOf(one: ResultEvent): AgentEvent {
  const session = sessionTokens(one);
  return {
    kind: 'result',
    succeeded: !one.is_error && (one.subtype ?? 'success') === 'success',
    text: one.result ?? one.errors?.join('\n') ?? one.subtype ?? '',
    httpStatus: one.api_error_status ?? undefined,
    turns: one.num_turns,
    tokens: session ?? promptTokens(one),
    tokensOf: session === undefined ? 'prompt' : 'session',
    costUsd: one.total_cost_usd,
  };
}

/** Returns the sums of `modelUsage`, which covers every model of the session. `usage` covers only the last prompt. */
function sessionTokens({ modelUsage }: ResultEvent): Tokens | undefined {
  const models = Object.values(modelUsage ?? {});
  if (models.length === 0) return undefined;
  return models
    .map((one) => ({
      input: one.inputTokens,
      output: one.outputTokens,
      cacheRead: one.cacheReadInputTokens,
      cacheWrite: one.cacheCreationInputTokens,
    }))
    .reduce(addTokens, NO_TOKENS);
}

function promptTokens({ usage }: ResultEvent): Tokens | undefined {
  if (usage == null) return undefined;
  return {
    input: usage.input_tokens,
    output: usage.output_tokens,
    cacheRead: usage.cache_read_input_tokens,
    cacheWrite: usage.cache_creation_input_tokens,
  };
}
