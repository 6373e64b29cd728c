/** Driver for agents that support the Agent Client Protocol. Source: `schema/v1` in `@agentclientprotocol/sdk` */
import { type AnyMessage, type ClientContext, client, methods, PROTOCOL_VERSION } from '@agentclientprotocol/sdk';
import { z } from 'zod';
import { AttemptFailure, classify } from '../task/failure.ts';
import { VERSION } from '../version.ts';
import {
  type AgentOrder,
  type AgentPort,
  type AgentResult,
  type AgentSession,
  addTokens,
  count,
  NO_TOKENS,
  objectIn,
  type Said,
  type Tokens,
  totalOf,
} from './agent.ts';
import { allows } from './permissions.ts';

const id = z.union([z.string(), z.number(), z.null()]);
const rpc = z.union([
  z.looseObject({ jsonrpc: z.literal('2.0'), id, method: z.string(), params: z.unknown().optional() }),
  z.looseObject({ jsonrpc: z.literal('2.0'), method: z.string(), params: z.unknown().optional() }),
  z.looseObject({ jsonrpc: z.literal('2.0'), id, error: z.looseObject({ code: z.number(), message: z.string() }) }),
  z.looseObject({ jsonrpc: z.literal('2.0'), id, result: z.unknown() }),
]);
const location = z.looseObject({ path: z.string() });
const block = z.looseObject({ type: z.string(), text: z.string().optional() });
const content = z.looseObject({ content: block.optional(), path: z.string().optional() });
const toolCall = z.looseObject({
  toolCallId: z.string(),
  title: z.string().nullish(),
  kind: z.string().nullish(),
  status: z.string().nullish(),
  locations: z.array(location).nullish(),
  content: z.array(content).nullish(),
  rawInput: z
    .looseObject({ command: z.string().optional().catch(undefined) })
    .nullish()
    .catch(undefined),
});
type ToolCall = z.output<typeof toolCall>;

/** Updates that the runner uses. Other updates, and those of an unknown form, are ignored. */
const update = z.object({
  update: z.discriminatedUnion('sessionUpdate', [
    z.looseObject({ sessionUpdate: z.literal('agent_message_chunk'), content: block }),
    z.looseObject({ sessionUpdate: z.literal('agent_thought_chunk') }),
    z.looseObject({ sessionUpdate: z.literal('plan') }),
    toolCall.extend({ sessionUpdate: z.literal('tool_call') }),
    toolCall.extend({ sessionUpdate: z.literal('tool_call_update') }),
    z.looseObject({
      sessionUpdate: z.literal('usage_update'),
      cost: z.looseObject({ amount: z.number(), currency: z.string() }).nullish(),
    }),
  ]),
});
const permissionRequest = z.looseObject({
  toolCall,
  options: z.array(z.looseObject({ optionId: z.string(), kind: z.string() })),
});
const option = z.looseObject({ id: z.string(), category: z.string().nullish(), currentValue: z.unknown().optional() });
const newSession = z.looseObject({
  sessionId: z.string(),
  configOptions: z.array(option).nullish(),
  models: z.looseObject({ currentModelId: z.string().optional() }).nullish(),
});
const tokenCount = z.looseObject({ input_tokens: count, output_tokens: count });
const promptResponse = z.looseObject({
  stopReason: z.string(),
  usage: z
    .looseObject({ inputTokens: count, outputTokens: count, cachedReadTokens: count, cachedWriteTokens: count })
    .nullish()
    .catch(undefined),
  /** Gemini CLI reports its tokens here. */
  _meta: z
    .looseObject({ quota: z.looseObject({ token_count: tokenCount }).optional() })
    .nullish()
    .catch(undefined),
});
const refusal = z.looseObject({ code: z.number(), message: z.string() });

export interface AcpTraits {
  /** Whether the title of a request to run a command is the whole command. */
  readonly commandInTitle?: boolean;
  /** Whether the model is an argument of the program, so that the session need not choose it. */
  readonly modelByFlag?: boolean;
  /** Whether the agent ends its turn if a permission is refused. The runner then asks it to continue. */
  readonly stopsAtRefusal?: boolean;
}

/** Number of times that the runner asks an agent to continue after a refused permission. */
const MAX_CONTINUATIONS = 20;

export class AcpSession implements AgentSession {
  private readonly order: AgentOrder;
  private readonly port: AgentPort;
  private readonly traits: AcpTraits;
  private readonly agent: ClientContext;
  private receive: (message: AnyMessage) => void = () => undefined;
  private sessionId = '';
  /** Messages for the next turn. A message during a turn would cancel the turn in most agents. */
  private waiting: Said[];
  /** Messages of the running turn that the agent has not acknowledged. */
  private unacknowledged: readonly Said[] = [];
  private isBusy = true;
  private isInterrupted = false;
  private readonly calls = new Map<string, ToolCall>();
  /** Ids of the tool calls that have been logged. */
  private readonly shown = new Set<string>();
  private words = '';
  private hasUsedTool = false;
  /** The refused permission, unless the agent used another tool after it. */
  private refusal: string | undefined;
  private continuations = 0;
  private tokens: Tokens | undefined;
  private costUsd: number | undefined;

  constructor(order: AgentOrder, port: AgentPort, traits: AcpTraits) {
    this.order = order;
    this.port = port;
    this.traits = traits;
    this.waiting = [order.prompt];
    const readable = new ReadableStream<AnyMessage>({
      start: (controller) => {
        this.receive = (message) => controller.enqueue(message);
      },
    });
    const writable = new WritableStream<AnyMessage>({ write: (message) => port.send(JSON.stringify(message)) });
    const app = client({ name: 'muster-runner' })
      .onRequest(methods.client.session.requestPermission, z.unknown(), ({ params }) => this.decide(params))
      .onNotification('*', () => undefined);
    this.agent = app.connect({ readable, writable }).agent;
    void this.begin().then(
      () => this.takeTurns(),
      (error: unknown) => this.fail(error),
    );
  }

  read(line: string): boolean {
    const parsed = rpc.safeParse(objectIn(line));
    if (!parsed.success) return false;
    const { data } = parsed;
    // The SDK prints updates that do not match its schema to the terminal.
    if ('method' in data && data.method === methods.client.session.update) this.updated(data.params);
    else this.receive(data);
    return true;
  }

  say(message: Said): void {
    this.waiting.push(message);
    if (!this.isBusy) void this.takeTurns();
  }

  interrupt(): void {
    const { sessionId } = this;
    this.isInterrupted = true;
    this.agent.notify(methods.agent.session.cancel, { sessionId }).catch(() => undefined); // The agent has ended.
  }

  finish(): void {
    this.port.close();
  }

  private async begin(): Promise<void> {
    const { folder, wishes } = this.order;
    const { model } = wishes;
    await this.agent.request<unknown>('initialize', {
      protocolVersion: PROTOCOL_VERSION,
      clientInfo: { name: 'muster-runner', version: VERSION },
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    });
    const opened = newSession.parse(await this.agent.request<unknown>('session/new', { cwd: folder, mcpServers: [] }));
    this.sessionId = opened.sessionId;
    const models = opened.configOptions?.find(({ category }) => category === 'model');
    if (model !== undefined && !this.traits.modelByFlag) {
      if (models === undefined)
        throw new AttemptFailure('crashed', 'config.model: this agent does not let the runner choose its model.');
      const choice = { sessionId: this.sessionId, configId: models.id, value: model };
      await this.agent.request<unknown>('session/set_config_option', choice);
    }
    const used = model ?? models?.currentValue ?? opened.models?.currentModelId;
    // An agent that reports a cost computes it from the prices of the account that it uses.
    this.port.emit({ kind: 'started', model: typeof used === 'string' ? used : undefined, hasKey: true });
  }

  /** Runs a turn with the waiting messages, and further turns with the messages that arrive during a turn. */
  private async takeTurns(): Promise<void> {
    this.isBusy = true;
    try {
      while (this.waiting.length > 0) {
        const result = await this.takeTurn();
        if (result.succeeded && this.continues()) continue;
        if (!result.succeeded) this.drop();
        this.port.emit(result);
      }
    } catch (error) {
      this.fail(error);
    } finally {
      this.isBusy = false;
    }
  }

  private continues(): boolean {
    const { refusal } = this;
    if (!this.traits.stopsAtRefusal || refusal === undefined || this.continuations >= MAX_CONTINUATIONS) return false;
    this.continuations += 1;
    this.port.emit({ kind: 'refused', text: 'The agent stopped because of the refusal, and is asked to continue.' });
    this.waiting.unshift({ id: 'continuation', text: `${refusal}. Continue without it.` });
    return true;
  }

  private async takeTurn(): Promise<AgentResult> {
    const { sessionId } = this;
    this.unacknowledged = this.waiting;
    this.waiting = [];
    this.words = '';
    this.hasUsedTool = false;
    this.refusal = undefined;
    const text = this.unacknowledged.map((said) => said.text).join('\n\n');
    const response = await this.agent.request<unknown>('session/prompt', {
      sessionId,
      prompt: [{ type: 'text', text }],
    });
    this.acknowledge();
    return this.resultOf(promptResponse.parse(response));
  }

  private resultOf({ stopReason, usage, _meta }: z.output<typeof promptResponse>): AgentResult {
    const used = _meta?.quota?.token_count;
    const tokens =
      used === undefined
        ? usage && tokensIn(usage)
        : { ...NO_TOKENS, input: used.input_tokens, output: used.output_tokens };
    if (tokens) this.tokens = addTokens(this.tokens ?? NO_TOKENS, tokens);
    this.port.emit({ kind: 'spent', tokens: this.tokens, costUsd: this.costUsd });
    // Copilot CLI reports a refused credential in the words of a successful turn.
    const isRefused = !this.hasUsedTool && !tokens && classify(this.words) !== 'crashed';
    const succeeded = stopReason === 'end_turn' && !isRefused;
    // After a success, the summary is the agent's last text, which has already been reported.
    const reason = isRefused ? this.words : `The turn ended with "${stopReason}". ${this.words}`;
    const text = succeeded ? '' : reason;
    return { kind: 'result', succeeded, text, tokens: this.tokens, tokensOf: 'session', costUsd: this.costUsd };
  }

  private fail(error: unknown): void {
    this.drop();
    const tokens = { tokens: this.tokens, tokensOf: 'session', costUsd: this.costUsd } as const;
    this.port.emit({ kind: 'result', succeeded: false, ...reasonOf(error), ...tokens });
  }

  /** Reports the messages that the agent will not get. */
  private drop(): void {
    const dropped = [...this.unacknowledged, ...this.waiting];
    this.unacknowledged = [];
    this.waiting = [];
    for (const message of dropped) this.port.emit({ kind: 'unheard', id: message.id });
  }

  private acknowledge(): void {
    const heard = this.unacknowledged;
    this.unacknowledged = [];
    for (const message of heard) this.port.emit({ kind: 'heard', id: message.id });
  }

  private updated(params: unknown): void {
    const parsed = update.safeParse(params);
    if (!parsed.success) return;
    const news = parsed.data.update;
    if (news.sessionUpdate === 'usage_update') {
      if (news.cost?.currency === 'USD') this.costUsd = news.cost.amount;
      if (this.costUsd !== undefined) this.port.emit({ kind: 'spent', costUsd: this.costUsd });
      return;
    }
    this.acknowledge();
    if (news.sessionUpdate === 'agent_message_chunk') {
      const { text = '' } = news.content;
      this.words += text;
      this.port.emit({ kind: 'said', text, partial: true });
    } else if (news.sessionUpdate === 'tool_call' || news.sessionUpdate === 'tool_call_update') {
      const call = this.merged(news);
      if (call.status !== 'pending') this.show(call);
      if (call.status !== 'completed' && call.status !== 'failed') return;
      const text = (call.content ?? []).map((one) => one.content?.text ?? '').join('\n');
      this.port.emit({ kind: 'toolResult', failed: call.status === 'failed', text });
    }
  }

  /** An update has only the fields that have changed. */
  private merged(call: ToolCall): ToolCall {
    const changes = Object.fromEntries(Object.entries(call).filter(([, value]) => value != null));
    const whole = { ...this.calls.get(call.toolCallId), ...call, ...changes };
    this.calls.set(call.toolCallId, whole);
    return whole;
  }

  private show(call: ToolCall): void {
    if (this.shown.has(call.toolCallId)) return;
    this.shown.add(call.toolCallId);
    this.hasUsedTool = true;
    this.refusal = undefined;
    const tool = call.kind ?? 'other';
    const command = tool === 'execute' ? (call.rawInput?.command ?? call.title ?? '') : undefined;
    this.port.emit({ kind: 'toolUse', tool, command, file: pathsOf(call)[0] });
  }

  private decide(params: unknown) {
    const parsed = permissionRequest.safeParse(params);
    if (!parsed.success || this.isInterrupted) return { outcome: { outcome: 'cancelled' } };
    const { toolCall: asked, options } = parsed.data;
    const call = this.merged(asked);
    this.show(call);
    const { title = '', kind = 'other' } = { title: call.title ?? '', kind: call.kind ?? 'other' };
    const command = call.rawInput?.command ?? (this.traits.commandInTitle ? title : undefined);
    const isAllowed = allows({ kind, command, paths: pathsOf(call) }, this.order.wishes, this.order.folder);
    // A permanent permission would be stored in the user's settings, or cover more than was asked.
    const wanted = isAllowed ? 'allow_once' : 'reject_once';
    const option = options.find((one) => one.kind === wanted);
    if (!isAllowed) this.refusal = `Not allowed (${kind}): ${command ?? title}`;
    if (this.refusal !== undefined) this.port.emit({ kind: 'refused', text: this.refusal });
    if (option === undefined) return { outcome: { outcome: 'cancelled' } };
    return { outcome: { outcome: 'selected', optionId: option.optionId } };
  }
}

function pathsOf({ locations, content }: ToolCall): readonly string[] {
  const named = [...(locations ?? []), ...(content ?? [])].flatMap(({ path }) => (path === undefined ? [] : [path]));
  return [...new Set(named)];
}

function tokensIn(usage: NonNullable<z.output<typeof promptResponse>['usage']>): Tokens | undefined {
  const tokens = {
    input: usage.inputTokens,
    output: usage.outputTokens,
    cacheRead: usage.cachedReadTokens,
    cacheWrite: usage.cachedWriteTokens,
  };
  return totalOf(tokens) === 0 ? undefined : tokens;
}

/** Code with which an agent refuses a session that needs a sign-in. Source: the protocol's error `auth_required`. */
const AUTH_REQUIRED = -32_000;

function reasonOf(error: unknown): Pick<AgentResult, 'text' | 'httpStatus' | 'failureClass' | 'isFinal'> {
  if (error instanceof AttemptFailure) return { text: error.message, isFinal: true };
  if (error instanceof z.ZodError) return { text: 'This version of the agent is not supported.' };
  const parsed = refusal.safeParse(error);
  if (!parsed.success) return { text: String(error) };
  const { code, message } = parsed.data;
  if (code === AUTH_REQUIRED) return { text: message, failureClass: 'authentication' };
  return { text: message, ...(code >= 400 && code < 600 && { httpStatus: code }) };
}
