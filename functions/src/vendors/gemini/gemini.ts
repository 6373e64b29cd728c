/** Gemini, through Google's SDK and the Gemini API. Source: https://ai.google.dev/api/generate-content */

import type { GoogleGenAI } from '@google/genai';
import { z } from 'zod';
import type {
  AskOptions,
  FailureClass,
  ModelAnswer,
  ModelFailure,
  ModelRequest,
  Usage,
} from '../../toolsets/orchestration/index.ts';
import { broken, classOfStatus, concluded, failure, type Progress, statusDetail } from '../modelFailure.ts';
import {
  fetchOnce,
  type ModelSettings,
  modelAnswer,
  received,
  retryAfterMs,
  VendorModel,
} from '../models.ts';

const REFUSED: ReadonlySet<string> = new Set([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
]);

/** Cut at a limit: the caller's, or the vendor's for one request. */
const CUT: ReadonlySet<string> = new Set(['MAX_TOKENS', 'CONTINUATION']);

export class Gemini extends VendorModel<GoogleGenAI> {
  readonly name = 'gemini';
  protected readonly parameters = { api: 'GEMINI', model: 'GEMINI' };

  async ask(request: ModelRequest, { signal, onText }: AskOptions): Promise<ModelAnswer> {
    const progress = this.newProgress();
    const { models } = await this.connected();
    let headers: Headers | undefined;
    const fetching = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
      const response = await fetchOnce(input, init);
      headers = response.headers;
      return response;
    };
    const chunks = received({
      signal,
      progress,
      part: chunk,
      open: (closing) => models.generateContentStream(this.question(request, closing, fetching)),
      failureOf: (error) => failureOf(error, headers, progress),
    });
    const answer = { text: '', model: this.model, finish: '', blocked: false };
    for await (const data of chunks) {
      progress.usage = usageOf(data, progress.usage);
      answer.model = data.modelVersion ?? answer.model;
      answer.finish = data.candidates?.[0]?.finishReason ?? answer.finish;
      answer.blocked ||= data.promptFeedback?.blockReason != null;
      const text = textOf(data);
      answer.text += text;
      if (text !== '') onText?.(text);
    }
    return answerOf(answer, progress);
  }

  /** No `retryOptions`: without them the SDK sends a request once. */
  protected async connect({ apiKey = '', baseUrl }: ModelSettings): Promise<GoogleGenAI> {
    const { GoogleGenAI: Client } = await import('@google/genai');
    return new Client({ apiKey, vertexai: false, httpOptions: { baseUrl } });
  }

  private question(request: ModelRequest, abortSignal: AbortSignal, fetching: typeof fetch) {
    const { system, prompt, maxOutputTokens } = request;
    return {
      model: this.model,
      contents: prompt,
      config: {
        abortSignal,
        maxOutputTokens,
        ...(system !== undefined && { systemInstruction: system }),
        automaticContinuation: false, // which would be requests of its own
        httpOptions: { fetch: fetching },
      },
    };
  }
}

/** Each count is the running total. What is thought is billed as output. */
function usageOf({ usageMetadata }: Chunk, before: Usage | undefined): Usage {
  const { promptTokenCount, candidatesTokenCount, thoughtsTokenCount } = usageMetadata ?? {};
  const output = (candidatesTokenCount ?? 0) + (thoughtsTokenCount ?? 0);
  return {
    inputTokens: promptTokenCount ?? before?.inputTokens ?? 0,
    outputTokens: Math.max(output, before?.outputTokens ?? 0),
  };
}

interface Answer {
  readonly text: string;
  readonly model: string;
  readonly finish: string;
  readonly blocked: boolean;
}

function answerOf({ text, model, finish, blocked }: Answer, progress: Progress): ModelAnswer {
  if (!progress.understood) throw failure('malformed', progress);
  if (blocked || REFUSED.has(finish)) throw concluded('refused', progress);
  if (finish === '') throw failure('truncated', progress);
  const complete = !CUT.has(finish);
  if (complete && finish !== 'STOP') throw concluded('malformed', progress, 'an answer that is none');
  return modelAnswer({ text, model, complete }, progress);
}

// The pieces of a streamed answer, as far as they are used. Source:
// https://ai.google.dev/api/generate-content#v1beta.GenerateContentResponse

const count = z.int().min(0).nullish();

const candidate = z.object({
  content: z
    .object({
      parts: z.array(z.object({ text: z.string().nullish(), thought: z.boolean().nullish() })).nullish(),
    })
    .nullish(),
  finishReason: z.string().nullish(),
});

const chunk = z
  .object({
    candidates: z.array(candidate).nullish(),
    promptFeedback: z.object({ blockReason: z.string().nullish() }).nullish(),
    modelVersion: z.string().nullish(),
    usageMetadata: z
      .object({ promptTokenCount: count, candidatesTokenCount: count, thoughtsTokenCount: count })
      .nullish(),
  })
  .refine(
    ({ candidates, promptFeedback, usageMetadata }) =>
      (candidates ?? promptFeedback ?? usageMetadata) != null,
  );

type Chunk = z.output<typeof chunk>;

/** What the model says, without what it thinks. */
function textOf({ candidates }: Chunk): string {
  const parts = candidates?.[0]?.content?.parts ?? [];
  return parts.map(({ text, thought }) => (thought === true ? '' : (text ?? ''))).join('');
}

// What the Gemini API's refusals mean. The SDK keeps of them the status, and the body as text. Source:
// https://ai.google.dev/gemini-api/docs/troubleshooting; https://google.aip.dev/193

const refusal = z.object({ name: z.literal('ApiError'), status: z.int(), message: z.string() });

const detail = z.looseObject({
  reason: z.string().optional(),
  retryDelay: z.string().optional(),
  violations: z.array(z.looseObject({ quotaId: z.string().optional() })).optional(),
});

const body = z.object({
  error: z.object({
    status: z.string().default(''),
    message: z.string().default(''),
    details: z.array(detail).default([]),
  }),
});

type Said = z.output<typeof body>['error'];

const TOO_LONG = /token count.{0,40}exceeds|exceeds the maximum number of tokens/i;

/** A quota that waiting does not give back: the day's, or one that the project does not have at all. */
const USED_UP = /PerDay/;
const NONE_AT_ALL = /\blimit: 0\b/;

/**
 * @param error what the SDK threw
 * @param headers of the answer, which the SDK does not hand on
 */
function failureOf(error: unknown, headers: Headers | undefined, progress: Progress): ModelFailure {
  const parsed = refusal.safeParse(error);
  if (!parsed.success) return broken(error, progress);
  const { status, message } = parsed.data;
  const said = saidIn(message);
  const wait = retryAfterMs(headers) ?? retryDelay(said);
  return failure(classOf(status, said), progress, {
    detail: statusDetail(status),
    ...(wait !== undefined && { retryAfterMs: wait }),
  });
}

function saidIn(message: string): Said {
  const begin = message.indexOf('{');
  try {
    return body.parse(JSON.parse(message.slice(begin === -1 ? 0 : begin))).error;
  } catch {
    return { status: '', message: '', details: [] };
  }
}

function classOf(status: number, { status: name, message, details }: Said): FailureClass {
  const reasons = details.map(({ reason }) => reason);
  if (reasons.includes('API_KEY_INVALID')) return 'authentication';
  if (status === 429) return isUsedUp(message, details) ? 'quota' : 'rate_limited';
  if (status !== 400) return classOfStatus(status);
  if (name === 'FAILED_PRECONDITION') return 'quota'; // no billing, where there is no free tier
  return TOO_LONG.test(message) ? 'context_too_long' : 'invalid_request';
}

function isUsedUp(message: string, details: Said['details']): boolean {
  const violations = details.flatMap((one) => one.violations ?? []);
  return NONE_AT_ALL.test(message) || violations.some(({ quotaId = '' }) => USED_UP.test(quotaId));
}

/** A duration as Protocol Buffers write one: `34.074s`. */
function retryDelay({ details }: Said): number | undefined {
  const texts = details.map((one) => /^(\d+(?:\.\d+)?)s$/.exec(one.retryDelay ?? '')?.[1]);
  const seconds = texts.find((text) => text !== undefined);
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * 1000);
}
