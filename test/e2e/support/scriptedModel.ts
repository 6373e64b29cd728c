/**
 * A local Anthropic Messages API with a scripted model, which calls tools in the order of its script and then reports
 * that it is done.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { close, listen } from '../../support/listening.ts';
import { eventsOf, messageWith } from './messagesApi.ts';

/** A tool's result as the model receives it. */
export interface ToolResult {
  readonly text: string;
  readonly isError: boolean;
}

export interface ToolCall {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Returns the model's next call, which can depend on earlier results. Like a slow model, it may wait. */
export type Step = (results: readonly ToolResult[]) => ToolCall | Promise<ToolCall>;

/** HTTP status with which the vendor refuses the request. */
export interface Refusal {
  readonly status: number;
}

/** A tool call, a refusal, or nothing if the model is done. */
export type Action = ToolCall | Refusal | undefined;

/** Returns what the model does in a turn. @param texts texts of the conversation, except results of tools */
export type Behavior = (texts: readonly string[], results: number) => Action | Promise<Action>;

export interface ScriptedModel {
  readonly url: string;
  /** Requests to which the script responds, in order. */
  readonly turns: readonly Turn[];
  close(): Promise<void>;
}

export interface Turn {
  readonly tools: readonly string[];
  readonly results: readonly ToolResult[];
  /** Texts of the conversation, except results of tools. */
  readonly texts: readonly string[];
}

const textBlocks = z.array(z.looseObject({ type: z.string(), text: z.string().optional() }));

const block = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  is_error: z.boolean().optional(),
  content: z.union([z.string(), textBlocks]).optional(),
});

/** The fields of MessageCreateParams that the script uses. Requests without these fields get an error. */
const messageRequest = z.looseObject({
  model: z.string(),
  max_tokens: z.number().int().positive(),
  stream: z.boolean().default(false),
  tools: z.array(z.looseObject({ name: z.string() })).default([]),
  messages: z
    .array(
      z.looseObject({ role: z.enum(['user', 'assistant', 'system']), content: z.union([z.string(), z.array(block)]) }),
    )
    .min(1),
});

/**
 * @param script tool calls, one per request that offers the script's first tool; clients also send other requests.
 *   Without tool calls, each request that offers tools is a turn. A function decides each request that offers tools
 */
export async function startScriptedModel(script: readonly Step[] | Behavior): Promise<ScriptedModel> {
  const turns: Turn[] = [];
  const server = createServer((request, response) => {
    answer(request, response, script, turns).catch((error: unknown) => response.destroy(error as Error));
  });
  return { url: await listen(server), turns, close: () => close(server) };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  script: readonly Step[] | Behavior,
  turns: Turn[],
): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  if (request.method === 'HEAD') return void response.writeHead(200).end();
  if (request.method !== 'POST' || pathname !== '/v1/messages') return refuse(response, 404, 'not_found_error');
  const parsed = messageRequest.safeParse(JSON.parse(await text(request)));
  if (!parsed.success) return refuse(response, 400, 'invalid_request_error', parsed.error.message);
  const { model, stream, tools, messages } = parsed.data;
  const names = tools.map((tool) => tool.name);
  const results = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content.flatMap(resultIn)));
  const texts = messages.flatMap(({ content }) => textsIn(content));
  const follows = await followedBy(script, names);
  if (follows) turns.push({ tools: names, results, texts });
  const act = typeof script === 'function' ? () => script(texts, results.length) : script[results.length];
  const call = follows ? await act?.(results) : undefined;
  if (call !== undefined && 'status' in call) return refuse(response, call.status, typeOf(call.status));
  const message = messageWith(model, results.length, call);
  if (stream) {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    for (const event of eventsOf(message)) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    return void response.end();
  }
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(message));
}

async function followedBy(script: readonly Step[] | Behavior, tools: readonly string[]): Promise<boolean> {
  if (typeof script === 'function') return tools.length > 0;
  const first = await script[0]?.([]);
  return first === undefined ? tools.length > 0 : tools.includes(first.tool);
}

function typeOf(status: number): string {
  return status === 401 ? 'authentication_error' : 'rate_limit_error';
}

function textsIn(content: string | readonly z.output<typeof block>[]): readonly string[] {
  return typeof content === 'string' ? [content] : content.flatMap(({ text: message }) => message ?? []);
}

function resultIn({ type, content = '', is_error = false }: z.output<typeof block>): ToolResult[] {
  if (type !== 'tool_result') return [];
  const message = typeof content === 'string' ? content : content.map((part) => part.text ?? '').join('');
  return [{ text: message, isError: is_error }];
}

function refuse(response: ServerResponse, status: number, type: string, message = type): void {
  const body = { type: 'error', error: { type, message }, request_id: null };
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}
