/** Gemini models, called with Google's SDK and the Gemini API. Source: https://ai.google.dev/api/generate-content */
import type { GoogleGenAI } from '@google/genai';
import { z } from 'zod';
import { parsedJson } from '../../kernel/json.ts';
import type { FailureClass, ModelFailure, ModelRequest } from '../../toolsets/orchestration/index.ts';
import { classOfStatus, connectionFailure, failure, type Progress, statusDetail } from '../modelFailure.ts';
import { type AnswerPart, fetchOnce, type ModelSettings, retryAfterMs, VendorModel } from '../vendorModel.ts';
import { type VertexSettings, vertexPlatform } from '../vertexAccess.ts';

/** Finish reason that Muster uses if the prompt was blocked. */
const PROMPT_BLOCKED = 'PROMPT_BLOCKED';

const REFUSED: ReadonlySet<string> = new Set([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  PROMPT_BLOCKED,
]);

/** Finish reasons of answers that were cut at the caller's token limit or at a limit of the vendor. */
const TRUNCATED: ReadonlySet<string> = new Set(['MAX_TOKENS', 'CONTINUATION']);
const count = z.int().min(0).nullish();

const candidate = z.object({
  content: z
    .object({ parts: z.array(z.object({ text: z.string().nullish(), thought: z.boolean().nullish() })).nullish() })
    .nullish(),
  finishReason: z.string().nullish(),
});

/** Parts of a streamed response. Source: https://ai.google.dev/api/generate-content#v1beta.GenerateContentResponse */
const chunk = z
  .object({
    candidates: z.array(candidate).nullish(),
    promptFeedback: z.object({ blockReason: z.string().nullish() }).nullish(),
    modelVersion: z.string().nullish(),
    usageMetadata: z
      .object({ promptTokenCount: count, candidatesTokenCount: count, thoughtsTokenCount: count })
      .nullish(),
  })
  .refine(({ candidates, promptFeedback, usageMetadata }) => (candidates ?? promptFeedback ?? usageMetadata) != null)
  .transform(({ candidates, promptFeedback, modelVersion, usageMetadata }): AnswerPart => {
    const { content, finishReason } = candidates?.[0] ?? {};
    const { promptTokenCount, candidatesTokenCount, thoughtsTokenCount } = usageMetadata ?? {};
    const finish = promptFeedback?.blockReason == null ? finishReason : PROMPT_BLOCKED;
    const written = (isThought: boolean) =>
      content?.parts?.map(({ text, thought }) => ((thought ?? false) === isThought ? text : '')).join('');
    return {
      text: written(false),
      thought: written(true),
      model: modelVersion ?? undefined,
      usage: {
        input_tokens: promptTokenCount ?? 0,
        output_tokens: (candidatesTokenCount ?? 0) + (thoughtsTokenCount ?? 0),
      },
      finish: finish ?? undefined,
      ended: Boolean(finish),
    };
  });

export class Gemini<Settings extends ModelSettings = ModelSettings> extends VendorModel<GoogleGenAI, Settings> {
  protected readonly part = chunk;

  /** Creates the client. Because `retryOptions` is omitted, the SDK sends each request only once. */
  protected async connect(): Promise<GoogleGenAI> {
    const { apiKey = '', baseUrl } = this.settings;
    const { GoogleGenAI: Client } = await import('@google/genai');
    return new Client({ apiKey, vertexai: false, httpOptions: { baseUrl } });
  }

  protected async open(
    { models }: GoogleGenAI,
    { prompt, maxOutputTokens }: ModelRequest,
    abortSignal: AbortSignal,
    progress: Progress,
  ): Promise<AsyncIterable<unknown>> {
    const fetching = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
      const response = await fetchOnce(input, init);
      progress.headers = response.headers;
      return response;
    };
    return models.generateContentStream({
      model: this.model,
      contents: prompt,
      config: {
        abortSignal,
        maxOutputTokens,
        automaticContinuation: false, // Automatic continuation would send further requests.
        httpOptions: { fetch: fetching },
      },
    });
  }

  protected meaningOf(finish: string) {
    if (REFUSED.has(finish)) return 'refused';
    if (TRUNCATED.has(finish)) return 'cut';
    return finish === 'STOP' ? 'whole' : 'none';
  }

  protected failureOf(error: unknown, progress: Progress): ModelFailure {
    const parsed = refusal.safeParse(error).data;
    if (parsed === undefined) return connectionFailure(error, progress);
    const details = errorDetailsIn(parsed.message);
    return failure(classOf(parsed.status, details), progress, {
      detail: statusDetail(parsed.status),
      retry_after_ms: retryAfterMs(progress.headers) ?? retryDelay(details),
    });
  }
}

/** Gemini models on Vertex AI. Source: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference */
export class VertexGemini extends Gemini<VertexSettings> {
  protected override readonly platform = vertexPlatform(this.settings);

  protected override async connect(): Promise<GoogleGenAI> {
    const { GoogleGenAI: Client } = await import('@google/genai');
    const { project, location, baseUrl } = this.settings;
    const authClient = await this.settings.identity();
    return new Client({
      vertexai: true,
      project,
      location,
      googleAuthOptions: { authClient },
      httpOptions: { baseUrl },
    });
  }
}

// Errors of the Gemini API. The SDK keeps only the status, and the body as text. Source:
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
type ErrorDetails = z.output<typeof body>['error'];
const TOO_LONG = /token count.{0,40}exceeds|exceeds the maximum number of tokens/i;

/** Quotas that recover only after a long time: a daily quota, or a quota that is 0 for the project. */
const QUOTA_TEXTS = /PerDay/;
const NO_QUOTA = /\blimit: 0\b/;

function errorDetailsIn(message: string): ErrorDetails {
  // Vertex AI sends the error as the only item of a list.
  const json = message.slice(Math.max(0, message.indexOf('{')), message.lastIndexOf('}') + 1);
  return body.safeParse(parsedJson(json)).data?.error ?? { status: '', message: '', details: [] };
}

function classOf(status: number, { status: name, message, details }: ErrorDetails): FailureClass {
  const reasons = details.map(({ reason }) => reason);
  if (reasons.includes('API_KEY_INVALID')) return 'authentication';
  if (status === 429) {
    const quotas = details.flatMap(({ violations = [] }) => violations.map(({ quotaId = '' }) => quotaId));
    return NO_QUOTA.test(message) || quotas.some((id) => QUOTA_TEXTS.test(id)) ? 'quota' : 'rate_limited';
  }
  if (status !== 400) return classOfStatus(status);
  if (name === 'FAILED_PRECONDITION') return 'quota'; // Billing is off, and the free tier is not available.
  return TOO_LONG.test(message) ? 'context_too_long' : 'invalid_request';
}

/** Parses a Protocol Buffers duration such as `34.074s`. */
function retryDelay({ details }: ErrorDetails): number | undefined {
  const texts = details.map((one) => /^(\d+(?:\.\d+)?)s$/.exec(one.retryDelay ?? '')?.[1]);
  const seconds = texts.find((text) => text !== undefined);
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * 1000);
}
