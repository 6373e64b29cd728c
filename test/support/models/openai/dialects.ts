/** Local versions of OpenAI's Responses API and Chat Completions API. Requests have the types of OpenAI's SDK. */
import type { OpenAI } from 'openai';
import { z } from 'zod';
import { type Dialect, type Question, type Said, Unacceptable } from '../dialect.ts';
import { completionChunks, errorChunk, wholeCompletion } from './chat.ts';
import { errorEvent, responseEvents, wholeResponse } from './responses.ts';
import { errorBody, type Turn, usageOf } from './turn.ts';

const effort = z.enum(['minimal', 'low', 'medium', 'high']);
const tokens = z.int().min(16); // OpenAI's own minimum

const responseRequest = z.strictObject({
  model: z.string().min(1),
  input: z.string().min(1),
  max_output_tokens: tokens.exactOptional(),
  store: z.literal(false),
  reasoning: z.strictObject({ effort }).exactOptional(),
  stream: z.boolean().exactOptional(),
}) satisfies z.ZodType<OpenAI.Responses.ResponseCreateParams>;

const chatRequest = z.strictObject({
  model: z.string().min(1),
  messages: z.array(z.strictObject({ role: z.literal('user'), content: z.string().min(1) })).min(1),
  max_tokens: tokens.exactOptional(),
  max_completion_tokens: tokens.exactOptional(),
  reasoning_effort: effort.exactOptional(),
  stream: z.boolean().exactOptional(),
  stream_options: z.strictObject({ include_usage: z.boolean() }).exactOptional(),
}) satisfies z.ZodType<OpenAI.ChatCompletionCreateParams>;

const admits: Dialect['admits'] = ({ authorization }) =>
  authorization === undefined || (typeof authorization === 'string' && /^Bearer (?!wrong)\S+$/.test(authorization));

function parsed<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const { success, data, error } = schema.safeParse(body);
  if (!success) throw new Unacceptable(z.prettifyError(error));
  return data;
}

function turnOf({ question, text, thinking, ending }: Said): Turn {
  const usage = usageOf(question.prompt, thinking, text, question.maxOutputTokens);
  return { model: question.model, number: 1, thinking, text, calls: [], ending, usage };
}

export const openai: Dialect = {
  vendor: 'openai',
  serves: (path) => path === '/v1/responses',
  admits,
  read(_path, _headers, body): Question {
    const { model, input: prompt, max_output_tokens: limit = 128_000, stream = false } = parsed(responseRequest, body);
    return { model, prompt, maxOutputTokens: limit, streamed: stream };
  },
  whole: (output) => wholeResponse(turnOf(output)),
  events: (output, pieces) => responseEvents(turnOf(output), pieces),
  error: (status) => errorBody(status),
  errorEvent: () => errorEvent('server_is_overloaded'),
};

/** Like a server other than OpenAI's, it also serves requests without a key. */
export const chat: Dialect = {
  vendor: 'chat',
  serves: (path) => path === '/v1/chat/completions',
  admits,
  read(_path, _headers, body): Question {
    const { model, messages, stream = false, ...limits } = parsed(chatRequest, body);
    const prompt = messages.map(({ content }) => content).join('\n');
    const limit = limits.max_tokens ?? limits.max_completion_tokens ?? 128_000;
    return { model, prompt, maxOutputTokens: limit, streamed: stream };
  },
  whole: (output) => wholeCompletion(turnOf(output), { usage: output.usage }),
  events: (output, pieces) =>
    completionChunks(turnOf(output), pieces, {
      usage: output.usage,
      ...(output.costUsd !== undefined && { extra: { cost: output.costUsd } }),
    }),
  error: (status) => errorBody(status),
  errorEvent: () => errorChunk(503),
};
