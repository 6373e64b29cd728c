/**
 * A local OpenAI API with a scripted model for coding agents such as Codex, opencode and Copilot: the Responses API,
 * streamed or not, and the Chat Completions API, streamed or not. Each request that offers tools gets the script's
 * next answer. Other requests, such as those for a title, get a short text.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { OpenAI } from 'openai';
import { z } from 'zod';
import { bodyOf, LocalServer } from '../../listening.ts';
import type { Ending } from '../dialect.ts';
import { completionChunks, wholeCompletion } from './chat.ts';
import { failedEvents, responseEvents, wholeResponse } from './responses.ts';
import { errorBody, type ToolCall, type Turn, usageOf } from './turn.ts';

export type { ToolCall } from './turn.ts';

/** An answer with text, calls of tools, or both. */
interface Says {
  readonly text?: string;
  readonly calls?: readonly ToolCall[];
  readonly thinking?: string;
  readonly ending?: Ending;
  /** Tokens of the input that count as read from the cache. */
  readonly cached?: number;
  /** Closes the connection after this number of events of the stream. */
  readonly cutAfter?: number;
}

/** A refused request. */
interface Refuses {
  readonly status: number;
  /** Code in the error, such as `insufficient_quota`. Default: the typical code for the status. */
  readonly code?: string;
  readonly message?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A stream of the Responses API that ends with `response.failed`. */
interface Fails {
  readonly failed: OpenAI.Responses.ResponseError['code'];
}

interface Slowness {
  /** Delay in milliseconds before the first byte. */
  readonly afterMs?: number;
  /** Delay in milliseconds before each event of the stream. */
  readonly betweenMs?: number;
}

export type ScriptedAnswer = (Says | Refuses | Fails) & Slowness;

/** An answer, or a function that returns it, and can wait. */
export type ScriptStep = ScriptedAnswer | ((request: ScriptedRequest) => ScriptedAnswer | Promise<ScriptedAnswer>);

/** One request, as the model receives it. */
export interface ScriptedRequest {
  readonly api: 'responses' | 'chat';
  readonly model: string;
  /** Credential in the header `authorization`, without `Bearer`. */
  readonly key: string | undefined;
  readonly tools: readonly string[];
  /** Results of tools, oldest first. */
  readonly results: readonly string[];
  /** Texts of the conversation and the instructions, except results of tools, in order. */
  readonly texts: readonly string[];
}

const parts = z.array(z.looseObject({ text: z.string().optional() }));
const content = z.union([z.string(), parts]).nullish();

const item = z.looseObject({ type: z.string().optional(), role: z.string().optional(), content, output: content });

/** The fields that the script uses. Requests without these fields get an error. */
const scriptedRequest = z.looseObject({
  model: z.string().min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  instructions: z.string().nullish(),
  input: z.union([z.string(), z.array(item)]).optional(),
  messages: z.array(item).optional(),
  tools: z
    .array(
      z.looseObject({
        type: z.string(),
        name: z.string().optional(),
        function: z.looseObject({ name: z.string() }).optional(),
      }),
    )
    .default([]),
});
type Body = z.output<typeof scriptedRequest>;

export class ScriptedOpenAi extends LocalServer {
  /** Requests that got an answer of the script, in order. */
  readonly asked: ScriptedRequest[] = [];
  /** Tokens of all answers that were sent to their end. */
  readonly used = { input: 0, cached: 0, output: 0 };
  private readonly script: readonly ScriptStep[];
  private answers = 0;
  protected readonly server = createServer((request, response) => {
    this.serve(request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : new Error(String(error)));
    });
  });

  constructor(script: readonly ScriptStep[]) {
    super();
    this.script = script;
  }

  /** Base URL for clients, which ends in `/v1`. */
  get baseUrl(): string {
    return `${this.url}/v1`;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', 'http://local');
    if (request.method === 'GET' && pathname.endsWith('/models')) return send(response, 200, MODELS);
    const api = apiOf(pathname);
    if (request.method !== 'POST' || api === undefined) return send(response, 404, errorBody(404));
    const { success, data: body } = scriptedRequest.safeParse(JSON.parse(await bodyOf(request)));
    if (!success) return send(response, 400, errorBody(400));
    const asked = requestIn(api, body, request.headers.authorization);
    const answer = asked.tools.length === 0 ? { text: 'A title' } : await this.next(asked);
    await delay(answer.afterMs ?? 0);
    if ('status' in answer)
      return send(response, answer.status, errorBody(answer.status, answer.code, answer.message), answer.headers);
    await this.say(body, asked, answer, response);
  }

  private async next(asked: ScriptedRequest): Promise<ScriptedAnswer> {
    const step = this.script[this.asked.length] ?? { text: 'Done.' };
    this.asked.push(asked);
    return typeof step === 'function' ? step(asked) : step;
  }

  private async say(
    body: Body,
    asked: ScriptedRequest,
    answer: (Says | Fails) & Slowness,
    response: ServerResponse,
  ): Promise<void> {
    const {
      text = '',
      thinking = '',
      calls = [],
      ending = 'complete',
      cached = 0,
      cutAfter,
    }: Says = 'failed' in answer ? {} : answer;
    const prompt = [...asked.texts, ...asked.results].join('');
    const counted = usageOf(prompt, thinking, `${text}${calls.map(({ input }) => JSON.stringify(input)).join('')}`);
    const usage = { ...counted, cached: Math.min(cached, counted.input) };
    const turn: Turn = { model: asked.model, number: ++this.answers, text, thinking, calls, ending, usage };
    const events = eventsOf(turn, asked, body, 'failed' in answer ? answer.failed : undefined);
    if (body.stream !== true)
      send(response, 200, asked.api === 'chat' ? wholeCompletion(turn, USAGE) : wholeResponse(turn));
    else if (!(await stream(response, events, answer.betweenMs ?? 0, cutAfter))) return;
    this.used.input += usage.input;
    this.used.cached += usage.cached;
    this.used.output += usage.output;
  }
}

const USAGE = { usage: true };
const MODELS = {
  object: 'list',
  data: [{ id: 'scripted', object: 'model', created: 0, owned_by: 'local' }],
  models: [],
};

function apiOf(path: string): ScriptedRequest['api'] | undefined {
  if (path.endsWith('/responses')) return 'responses';
  return path.endsWith('/chat/completions') ? 'chat' : undefined;
}

function eventsOf(
  turn: Turn,
  { api }: ScriptedRequest,
  { stream_options: options }: Body,
  failed: Fails['failed'] | undefined,
): readonly string[] {
  if (api === 'chat') return completionChunks(turn, [turn.text], { usage: options?.include_usage ?? false });
  return failed === undefined ? responseEvents(turn, [turn.text]) : failedEvents(turn, failed);
}

/** Sends the events. @returns false if the stream was cut */
async function stream(
  response: ServerResponse,
  events: readonly string[],
  betweenMs: number,
  cutAfter = events.length,
): Promise<boolean> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events.slice(0, cutAfter)) {
    if (betweenMs > 0) await delay(betweenMs);
    response.write(event);
  }
  if (cutAfter < events.length) response.socket?.destroySoon();
  else response.end();
  return cutAfter >= events.length;
}

function send(response: ServerResponse, status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

function requestIn(api: ScriptedRequest['api'], body: Body, authorization: string | undefined): ScriptedRequest {
  const { model, instructions, input = [], messages = [], tools } = body;
  const items = [...(typeof input === 'string' ? [{ content: input }] : input), ...messages];
  const results = items
    .filter(isResult)
    .map((one) => plain('output' in one ? (one.output ?? one.content) : one.content));
  const texts = [instructions ?? '', ...items.filter((one) => !isResult(one)).map((one) => plain(one.content))];
  return {
    api,
    model,
    key: authorization?.replace(/^Bearer /, ''),
    tools: tools.map(({ type, name, function: chat }) => name ?? chat?.name ?? type),
    results,
    texts: texts.filter(Boolean),
  };
}

function isResult({ type, role }: { readonly type?: string | undefined; readonly role?: string | undefined }): boolean {
  return role === 'tool' || (type?.endsWith('_call_output') ?? false);
}

function plain(given: z.output<typeof content>): string {
  return typeof given === 'string' ? given : (given ?? []).map(({ text = '' }) => text).join('');
}
