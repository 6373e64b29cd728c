/**
 * Driver for Codex, through its app-server. Source: https://developers.openai.com/codex/app-server, and the types that
 * `codex app-server generate-ts` of version 0.169.0 writes.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { promisify } from 'node:util';
import { z } from 'zod';
import { milliseconds } from '../outage/reset.ts';
import { JsonLines } from '../process/jsonLines.ts';
import { AttemptFailure, type FailureClass } from '../task/failure.ts';
import { VERSION } from '../version.ts';
import {
  type AgentEvent,
  type AgentOrder,
  type AgentPort,
  type AgentProgram,
  type AgentResult,
  type AgentSession,
  count,
  type Launch,
  objectIn,
  type RunWishes,
  type Said,
  type Tokens,
} from './agent.ts';

const execute = promisify(execFile);
const LOGIN_TIMEOUT_MS = 30_000;
const WITHOUT_RULES = 'config.allowedTools: Codex has no such rules. It runs commands in a sandbox without network.';

export const codex: AgentProgram = {
  tool: 'CODEX',
  title: 'Codex',
  program: 'codex',
  command: ['codex'],
  hearing: 'between_steps',
  // In its sandbox, the repository's .git folder is read-only.
  canCommit: false,
  reportsCost: false,
  launch,
  open: (order, port) => new CodexSession(order, port),
};

async function launch({ allowedTools, unsafe }: RunWishes, env: NodeJS.ProcessEnv): Promise<Launch> {
  if (allowedTools.length > 0 && !unsafe) throw new AttemptFailure('crashed', WITHOUT_RULES, { retryable: false });
  return { args: ['app-server', ...(await providerFlags(env))] };
}

/**
 * The app-server does not use an API key from the environment. If no one is signed in and the user has not chosen a
 * provider, these flags define a provider that does. They store nothing.
 */
async function providerFlags(env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const key = ['CODEX_API_KEY', 'OPENAI_API_KEY'].find((name) => env[name]);
  if (key === undefined || choosesProvider(env) || (await isSignedIn(env))) return [];
  const url = env['OPENAI_BASE_URL'] || 'https://api.openai.com/v1';
  const provider = `name="OpenAI",base_url=${JSON.stringify(url)},env_key="${key}",wire_api="responses"`;
  return ['-c', 'model_provider="muster"', '-c', `model_providers.muster={${provider}}`];
}

async function isSignedIn(env: NodeJS.ProcessEnv): Promise<boolean> {
  const options = { env, timeout: LOGIN_TIMEOUT_MS, killSignal: 'SIGKILL' } as const;
  return execute('codex', ['login', 'status'], options).then(
    () => true,
    () => false,
  );
}

function choosesProvider(env: NodeJS.ProcessEnv): boolean {
  const home = env['CODEX_HOME'] || `${env['HOME'] || homedir()}/.codex`;
  try {
    return /^\s*model_provider\s*=/m.test(readFileSync(`${home}/config.toml`, 'utf8'));
  } catch {
    return false;
  }
}

const errorInfo = z
  .union([z.string(), z.record(z.string(), z.looseObject({ httpStatusCode: z.number().nullish() }).nullish())])
  .nullish()
  .catch(undefined);
const turnError = z.looseObject({ message: z.string(), codexErrorInfo: errorInfo });
const item = z.looseObject({
  type: z.string(),
  clientId: z.string().nullish(),
  text: z.string().optional(),
  command: z.string().optional(),
  commandActions: z.array(z.looseObject({ command: z.string().optional() })).optional(),
  aggregatedOutput: z.string().nullish(),
  status: z.string().optional(),
  changes: z.array(z.looseObject({ path: z.string() })).optional(),
  server: z.string().optional(),
  tool: z.string().optional(),
});
type Item = z.output<typeof item>;
const usage = z.looseObject({
  inputTokens: count,
  cachedInputTokens: count,
  cacheWriteInputTokens: count,
  outputTokens: count,
});
const window = z.looseObject({ usedPercent: z.number(), resetsAt: z.number().nullish() }).nullish();
const started = z.looseObject({ thread: z.looseObject({ id: z.string() }), model: z.string().optional() });
const startNote = z.looseObject({ turn: z.looseObject({ id: z.string() }) });

const itemNote = z.looseObject({ item });
const usageNote = z.looseObject({ tokenUsage: z.looseObject({ total: usage }) });
const limitsNote = z.looseObject({ rateLimits: z.looseObject({ primary: window, secondary: window }) });
const errorNote = z.looseObject({ error: turnError, willRetry: z.boolean() });
const endNote = z.looseObject({ turn: z.looseObject({ status: z.string(), error: turnError.nullish() }) });

/** Failures that Codex reports by a code without an HTTP status. */
const CLASSES: Readonly<Record<string, FailureClass>> = {
  usageLimitExceeded: 'rate_limit',
  rateLimitExceeded: 'rate_limit',
  serverOverloaded: 'rate_limit',
  unauthorized: 'authentication',
  sessionBudgetExceeded: 'over_budget',
};

class CodexSession implements AgentSession {
  private readonly port: AgentPort;
  private readonly peer: JsonLines;
  private thread: string | undefined;
  /** Id of the running turn. */
  private turn: string | undefined;
  /** Ids of the messages that the model has not received. */
  private readonly waiting = new Set<string>();
  /** Ids of the messages that Codex has accepted for the running turn. */
  private readonly accepted = new Set<string>();
  private sending: Promise<void>;
  private tokens: Tokens | undefined;
  private lastText = '';
  private limitEndsAt: number | undefined;
  /** Notifications that the runner uses. Others, and those of an unknown form, are ignored. */
  private readonly notes: ReadonlyMap<string, (params: unknown) => void> = new Map([
    ['turn/started', noting(startNote, ({ turn }) => this.began(turn.id))],
    ['item/started', noting(itemNote, (note) => this.emitAll(startOf(note.item)))],
    ['item/completed', noting(itemNote, (note) => this.completed(note.item))],
    ['thread/tokenUsage/updated', noting(usageNote, ({ tokenUsage }) => this.spent(tokenUsage.total))],
    ['account/rateLimits/updated', noting(limitsNote, ({ rateLimits }) => this.noteLimits(rateLimits))],
    ['error', noting(errorNote, (note) => this.warn(note))],
    // Responses that arrived with this notification are processed first.
    ['turn/completed', noting(endNote, ({ turn }) => void setImmediate(() => this.ended(turn.status, turn.error)))],
  ]);

  constructor(order: AgentOrder, port: AgentPort) {
    this.port = port;
    this.peer = new JsonLines({
      send: port.send,
      // With the approval policy "never", Codex asks nothing. A request that it sends nevertheless is declined.
      onRequest: (method) => (method.endsWith('/requestApproval') ? { decision: 'decline' } : undefined),
      onNotification: (method, params) => this.notes.get(method)?.(params),
    });
    this.sending = this.begin(order).catch((error: unknown) => this.fail(error));
  }

  read(line: string): boolean {
    const message = objectIn(line);
    if (message === undefined) return false;
    this.peer.receive(message);
    return true;
  }

  say(message: Said): void {
    this.sending = this.sending.then(() => this.deliver(message)).catch((error: unknown) => this.fail(error));
  }

  interrupt(): void {
    const { thread: threadId, turn: turnId } = this;
    if (threadId === undefined || turnId === undefined) return;
    this.peer.request('turn/interrupt', { threadId, turnId }).catch(() => undefined); // The turn has already ended.
  }

  finish(): void {
    this.port.close();
  }

  private async begin({ prompt, wishes, folder }: AgentOrder): Promise<void> {
    const { model, unsafe } = wishes;
    await this.peer.request('initialize', { clientInfo: { name: 'muster-runner', title: 'Muster', version: VERSION } });
    this.peer.notify('initialized');
    const begun = await this.peer.request('thread/start', {
      cwd: folder,
      approvalPolicy: 'never',
      sandbox: unsafe ? 'danger-full-access' : 'workspace-write',
      ephemeral: true,
      ...(model !== undefined && { model }),
    });
    const { thread, model: used } = started.parse(begun);
    this.thread = thread.id;
    this.port.emit({ kind: 'started', model: used });
    await this.deliver(prompt);
  }

  /** Passes a message to the running turn, or starts a turn with it. */
  private async deliver(message: Said): Promise<void> {
    const { thread: threadId, turn: expectedTurnId } = this;
    if (threadId === undefined) return;
    this.waiting.add(message.id);
    const clientUserMessageId = message.id;
    if (expectedTurnId !== undefined) {
      const steer = { threadId, expectedTurnId, clientUserMessageId, input: inputOf(message) };
      const isAccepted = await this.peer.request('turn/steer', steer).then(
        () => true,
        () => false, // The turn has ended.
      );
      if (isAccepted) this.accepted.add(message.id);
      if (isAccepted) return;
    }
    await this.peer.request('turn/start', { threadId, clientUserMessageId, input: inputOf(message) });
  }

  private noteLimits({ primary, secondary }: z.output<typeof limitsNote>['rateLimits']): void {
    const full = [primary, secondary].filter((one) => (one?.usedPercent ?? 0) >= 100);
    this.limitEndsAt = Math.max(0, ...full.map((one) => milliseconds(one?.resetsAt ?? 0))) || undefined;
  }

  private warn({ error: { message, codexErrorInfo }, willRetry }: z.output<typeof errorNote>): void {
    const { httpStatus } = codeOf(codexErrorInfo);
    if (willRetry) this.port.emit({ kind: 'warned', text: message, httpStatus });
  }

  private began(turn: string): void {
    this.turn = turn;
    this.accepted.clear();
  }

  private emitAll(events: readonly AgentEvent[]): void {
    for (const event of events) this.port.emit(event);
  }

  private completed(done: Item): void {
    if (done.type === 'userMessage') {
      if (done.clientId && this.waiting.delete(done.clientId)) this.port.emit({ kind: 'heard', id: done.clientId });
      return;
    }
    if (done.type === 'agentMessage' && done.text) {
      this.lastText = done.text;
      this.port.emit({ kind: 'said', text: done.text, partial: false });
    } else if (done.type === 'commandExecution' || (done.type === 'fileChange' && done.status !== 'completed')) {
      const text = done.aggregatedOutput ?? done.status ?? '';
      this.port.emit({ kind: 'toolResult', failed: done.status !== 'completed', text });
    }
  }

  /** Codex counts cached tokens in its input tokens, and reasoning in its output tokens. */
  private spent(total: z.output<typeof usage>): void {
    const { inputTokens, cachedInputTokens: cacheRead, cacheWriteInputTokens: cacheWrite, outputTokens } = total;
    const input = Math.max(0, inputTokens - cacheRead - cacheWrite);
    this.tokens = { input, output: outputTokens, cacheRead, cacheWrite };
    this.port.emit({ kind: 'spent', tokens: this.tokens });
  }

  private ended(status: string, error: z.output<typeof turnError> | null | undefined): void {
    this.turn = undefined;
    const code = codeOf(error?.codexErrorInfo);
    if (status !== 'completed' && this.limitEndsAt !== undefined)
      this.port.emit({ kind: 'limited', endsAt: this.limitEndsAt });
    const unheard = [...this.accepted].filter((id) => this.waiting.delete(id));
    this.emitAll(unheard.map((id) => ({ kind: 'unheard', id })));
    this.port.emit({
      kind: 'result',
      succeeded: status === 'completed',
      text: error?.message ?? this.lastText,
      ...code,
      tokens: this.tokens,
      tokensOf: 'session',
    });
  }

  private fail(error: unknown): void {
    const text = error instanceof z.ZodError ? 'This version of the app-server is not supported.' : String(error);
    this.port.emit({ kind: 'result', succeeded: false, text, tokens: this.tokens, tokensOf: 'session' });
  }
}

function noting<Shape extends z.ZodType>(shape: Shape, use: (note: z.output<Shape>) => void) {
  return (params: unknown): void => {
    const parsed = shape.safeParse(params);
    if (parsed.success) use(parsed.data);
  };
}

function inputOf({ text }: Said): readonly object[] {
  return [{ type: 'text', text, text_elements: [] }];
}

function startOf(begun: Item): readonly AgentEvent[] {
  const { type, command, commandActions = [], changes = [], server, tool } = begun;
  if (type === 'commandExecution') {
    const [action] = commandActions;
    return [{ kind: 'toolUse', tool: 'shell', command: commandActions.length === 1 ? action?.command : command }];
  }
  if (type === 'fileChange') return changes.map(({ path }) => ({ kind: 'toolUse', tool: 'apply_patch', file: path }));
  if (type === 'mcpToolCall' && tool !== undefined) return [{ kind: 'toolUse', tool: `${server}.${tool}` }];
  return type === 'webSearch' ? [{ kind: 'toolUse', tool: 'web_search' }] : [];
}

/** Returns what a code of Codex states about a failure. */
function codeOf(info: z.output<typeof errorInfo>): Pick<AgentResult, 'failureClass' | 'httpStatus' | 'isFinal'> {
  if (info == null) return {};
  if (typeof info === 'string')
    return { failureClass: CLASSES[info], ...(info === 'sandboxError' && { isFinal: true }) };
  const httpStatus = Object.values(info)[0]?.httpStatusCode ?? undefined;
  return { httpStatus };
}
