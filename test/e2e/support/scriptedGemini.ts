/** A local Gemini API with a scripted model. Requests and responses follow the vendor's REST reference. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { close, listen } from '../../support/listening.ts';
import type { Behavior, ToolCall } from './scriptedModel.ts';

export interface ScriptedGemini {
  readonly url: string;
  /** The requests to the model that offered tools, in order. */
  readonly turns: readonly GeminiTurn[];
  close(): Promise<void>;
}

export interface GeminiTurn {
  readonly tools: readonly string[];
  /** Responses of the called tools, as JSON. */
  readonly results: readonly string[];
  readonly texts: readonly string[];
}

const functionResponse = z.looseObject({ name: z.string(), response: z.looseObject({}) });

/** The fields of a GenerateContentRequest on which the script depends. */
const request = z.looseObject({
  contents: z.array(
    z.looseObject({
      parts: z
        .array(z.looseObject({ text: z.string().optional(), functionResponse: functionResponse.optional() }))
        .default([]),
    }),
  ),
  tools: z
    .array(z.looseObject({ functionDeclarations: z.array(z.looseObject({ name: z.string() })).default([]) }))
    .default([]),
});

/** Token usage in each response. Of the 10 input tokens, 4 are from a cache. Only the total includes thoughts. */
const USAGE = {
  promptTokenCount: 10,
  cachedContentTokenCount: 4,
  candidatesTokenCount: 5,
  thoughtsTokenCount: 2,
  totalTokenCount: 17,
};

/**
 * @param script tool calls, one per request that offers tools, or a function that decides such a request. The response
 *   to other requests is an empty object
 */
export async function startScriptedGemini(script: readonly (() => ToolCall)[] | Behavior): Promise<ScriptedGemini> {
  const turns: GeminiTurn[] = [];
  const server = createServer((incoming, response) => {
    answer(incoming, response, script, turns).catch((error: unknown) => response.destroy(error as Error));
  });
  return { url: await listen(server), turns, close: () => close(server) };
}

async function answer(
  incoming: IncomingMessage,
  response: ServerResponse,
  script: readonly (() => ToolCall)[] | Behavior,
  turns: GeminiTurn[],
): Promise<void> {
  const { pathname } = new URL(incoming.url ?? '/', 'http://localhost');
  const method = /^\/v1beta\/models\/[\w.-]+:(\w+)$/.exec(pathname)?.[1];
  const parsed = request.safeParse(JSON.parse((await text(incoming)) || '{}'));
  if (method === undefined || !parsed.success) {
    const error = { code: 400, message: parsed.error?.message ?? 'Unknown path', status: 'INVALID_ARGUMENT' };
    return void response.writeHead(400, { 'Content-Type': 'application/json' }).end(JSON.stringify({ error }));
  }
  const { contents, tools } = parsed.data;
  const names = tools.flatMap(({ functionDeclarations }) => functionDeclarations.map(({ name }) => name));
  const offers = names.length > 0;
  const parts = contents.flatMap((content) => content.parts);
  const results = parts.flatMap((one) => one.functionResponse ?? []).map((one) => JSON.stringify(one.response));
  const texts = parts.flatMap((one) => one.text ?? []);
  if (offers) turns.push({ tools: names, results, texts });
  const act = typeof script === 'function' ? () => script(texts, results.length) : script[results.length];
  const call = offers ? await act?.() : undefined;
  if (call !== undefined && 'status' in call) {
    const error = { code: call.status, message: 'Refused.', status: 'UNAVAILABLE' };
    return void response.writeHead(call.status, { 'Content-Type': 'application/json' }).end(JSON.stringify({ error }));
  }
  const output = { text: offers ? 'Done.' : '{}' };
  const part = call === undefined ? output : { functionCall: { name: call.tool, args: call.input } };
  const whole = {
    candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: USAGE,
    modelVersion: 'scripted',
  };
  if (method === 'streamGenerateContent') {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    return void response.end(`data: ${JSON.stringify(whole)}\n\n`);
  }
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(whole));
}
