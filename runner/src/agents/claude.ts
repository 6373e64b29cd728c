/**
 * Driver for Claude Code, with streamed JSON in both directions. Source: https://code.claude.com/docs/en/headless, and
 * the types of its Agent SDK.
 */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { milliseconds } from '../outage/reset.ts';
import {
  type AgentEvent,
  type AgentOrder,
  type AgentPort,
  type AgentProgram,
  type AgentSession,
  addTokens,
  count,
  NO_TOKENS,
  objectIn,
  type RunWishes,
  type Said,
  type Tokens,
} from './agent.ts';

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
const usage = z.looseObject({
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
});
const message = z.looseObject({
  id: z.string().optional(),
  content: z.union([z.string(), z.array(part)]),
  usage: usage.nullish(),
});

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
  /** `isReplay`: a message of the runner, which Claude Code repeats when it passes the message to the model. */
  z.looseObject({
    type: z.literal('user'),
    message,
    uuid: z.string().optional(),
    isReplay: z.boolean().default(false),
  }),
  /** State of a message of the runner. Claude Code 2.1.197 does not print it. */
  z.looseObject({ type: z.literal('command_lifecycle'), command_uuid: z.string(), state: z.string() }),
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
    usage: usage.nullish(),
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

export const claude: AgentProgram = {
  tool: 'CLAUDECODE',
  title: 'Claude Code',
  program: 'claude',
  command: ['claude'],
  hearing: 'between_steps',
  canCommit: true,
  reportsCost: true,
  // Claude Code 2.1.197 reads "@" as a reference only after a space or some punctuation, so not in email addresses.
  reference: /(?<![\w\\])@/g,
  launch: (wishes) => ({ args: argumentsOf(wishes) }),
  open: (order, port) => new ClaudeSession(order, port),
};

class ClaudeSession implements AgentSession {
  private readonly port: AgentPort;
  /** Messages that the model has not received, by the UUIDs that the runner gave them. */
  private readonly waiting = new Map<string, string>();
  /** Tokens of each response of the model. A response is printed once per content block, with the same id. */
  private readonly spent = new Map<string, Tokens>();

  constructor({ prompt }: AgentOrder, port: AgentPort) {
    this.port = port;
    this.say(prompt);
  }

  read(line: string): boolean {
    const value = objectIn(line);
    if (value === undefined) return false;
    // Lines of an unknown form, which newer versions may print, are ignored.
    const parsed = event.safeParse(value);
    if (parsed.success) for (const one of this.eventsOf(parsed.data)) this.port.emit(one);
    return true;
  }

  say({ id, text }: Said): void {
    const uuid = randomUUID();
    this.waiting.set(uuid, id);
    const content = [{ type: 'text', text }];
    const line = { type: 'user', uuid, session_id: '', parent_tool_use_id: null, message: { role: 'user', content } };
    this.port.send(JSON.stringify(line));
  }

  interrupt(): void {
    const request = { type: 'control_request', request_id: randomUUID(), request: { subtype: 'interrupt' } };
    this.port.send(JSON.stringify(request));
  }

  finish(): void {
    this.port.close();
  }

  private eventsOf(one: Event): readonly AgentEvent[] {
    switch (one.type) {
      case 'system':
        return systemEvent(one);
      case 'assistant':
        return [...partsOf(one.message).flatMap(assistantEvent), ...this.spending(one.message)];
      case 'user':
        return one.isReplay ? this.acknowledged('heard', one.uuid) : partsOf(one.message).flatMap(resultEvent);
      case 'command_lifecycle':
        if (one.state === 'started') return this.acknowledged('heard', one.command_uuid);
        return one.state === 'cancelled' ? this.acknowledged('unheard', one.command_uuid) : [];
      case 'rate_limit_event':
        return limitEvent(one.rate_limit_info);
      case 'result':
        return [resultOf(one)];
    }
  }

  private acknowledged(kind: 'heard' | 'unheard', uuid = ''): readonly AgentEvent[] {
    const id = this.waiting.get(uuid);
    this.waiting.delete(uuid);
    return id === undefined ? [] : [{ kind, id }];
  }

  private spending({ id, usage: used }: z.output<typeof message>): readonly AgentEvent[] {
    if (id === undefined || used == null) return [];
    this.spent.set(id, tokensIn(used));
    return [{ kind: 'spent', tokens: [...this.spent.values()].reduce(addTokens, NO_TOKENS) }];
  }
}

function argumentsOf({ model, allowedTools, unsafe, maxCostUsd }: RunWishes): readonly string[] {
  return [
    '-p',
    '--input-format',
    'stream-json',
    '--output-format',
    'stream-json',
    '--replay-user-messages',
    '--verbose',
    ...(unsafe ? ['--dangerously-skip-permissions'] : ['--permission-mode', 'acceptEdits']),
    '--settings',
    JSON.stringify(settingsOf(allowedTools)),
    ...(model === undefined ? [] : ['--model', model]),
    ...(maxCostUsd === undefined ? [] : ['--max-budget-usd', String(maxCostUsd)]),
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
  const httpStatus = error_status ?? undefined;
  const text = `The model responded with ${error}; retry ${attempt} of ${max_retries}.`;
  // Ten retries take minutes, and do not help if the credential is refused.
  if (httpStatus === 401 && attempt >= 2)
    return [{ kind: 'result', succeeded: false, text, httpStatus, tokensOf: 'prompt' }];
  return [{ kind: 'warned', text, httpStatus }];
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
    ...(one.subtype === 'error_max_budget_usd' && { failureClass: 'over_budget' }),
    text: one.result ?? one.errors?.join('\n') ?? one.subtype ?? '',
    httpStatus: one.api_error_status ?? undefined,
    turns: one.num_turns,
    tokens: session ?? (one.usage == null ? undefined : tokensIn(one.usage)),
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

function tokensIn(used: z.output<typeof usage>): Tokens {
  return {
    input: used.input_tokens,
    output: used.output_tokens,
    cacheRead: used.cache_read_input_tokens,
    cacheWrite: used.cache_creation_input_tokens,
  };
}
