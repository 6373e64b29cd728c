/**
 * A local version of the Gemini API's generateContent and streamGenerateContent. Responses, and parts of requests,
 * have the types of Google's SDK. Source: https://ai.google.dev/api/generate-content
 */
import { type Content, FinishReason, type GenerateContentResponse, type GenerationConfig } from '@google/genai';
import { z } from 'zod';
import { type Dialect, type Ending, type Question, type Said, tokensIn, Unacceptable } from './dialect.ts';

const content = z.strictObject({
  role: z.enum(['user', 'model']).exactOptional(),
  parts: z.array(z.strictObject({ text: z.string() })).min(1),
}) satisfies z.ZodType<Content>;

const request = z.strictObject({
  contents: z.array(content).min(1),
  generationConfig: z
    .strictObject({ maxOutputTokens: z.int().min(1).exactOptional() })
    .exactOptional() satisfies z.ZodType<GenerationConfig | undefined>,
});

const ENDPOINT = /^\/v1beta\/models\/([\w.-]+):(generateContent|streamGenerateContent)$/;

const FINISHES: Readonly<Record<Ending, FinishReason>> = {
  complete: FinishReason.STOP,
  limit: FinishReason.MAX_TOKENS,
  full: FinishReason.MAX_TOKENS,
  refusal: FinishReason.SAFETY,
};

const STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

/** The fields of a response that the API sends. The SDK's type has more fields. */
type Wire = Pick<GenerateContentResponse, 'candidates' | 'usageMetadata' | 'modelVersion' | 'responseId'>;

export const gemini: Dialect = {
  vendor: 'gemini',
  serves: (path) => ENDPOINT.test(path),
  admits: (headers) => typeof headers['x-goog-api-key'] === 'string' && !/^(wrong.*)?$/.test(headers['x-goog-api-key']),
  read(path, _headers, body): Question {
    const { success, data, error } = request.safeParse(body);
    if (!success) throw new Unacceptable(z.prettifyError(error));
    const [, model = '', method] = ENDPOINT.exec(path) ?? [];
    return {
      model,
      prompt: data.contents.map(plain).join('\n'),
      maxOutputTokens: data.generationConfig?.maxOutputTokens ?? 65_536,
      streamed: method === 'streamGenerateContent',
    };
  },
  whole: (output) => response(output, output.text, FINISHES[output.ending]),
  /** As in the vendor's API, only the last event contains the finish reason. */
  events(output, pieces) {
    const thoughts = output.thinking === '' ? [] : [data(response(output, output.thinking, undefined, true))];
    const answer = pieces.map((piece, index) =>
      data(response(output, piece, index === pieces.length - 1 ? FINISHES[output.ending] : undefined)),
    );
    return [...thoughts, ...answer];
  },
  error: (status) => refusal(status),
  errorEvent: () => data(refusal(503)),
};

function plain({ parts }: z.output<typeof content>): string {
  return parts.map(({ text }) => text).join('');
}

function response(output: Said, text: string, finishReason: FinishReason | undefined, thought = false): Wire {
  const { question } = output;
  const promptTokenCount = tokensIn(question.prompt);
  const candidatesTokenCount = Math.min(tokensIn(output.text), question.maxOutputTokens);
  const thoughtsTokenCount = Math.min(tokensIn(output.thinking), question.maxOutputTokens);
  const ended = finishReason !== undefined;
  return {
    candidates: [
      {
        ...(text !== '' && { content: { role: 'model', parts: [{ text, ...(thought && { thought }) }] } }),
        ...(ended && { finishReason }),
        index: 0,
      },
    ],
    usageMetadata: {
      promptTokenCount,
      ...(ended && { candidatesTokenCount }),
      ...(ended && thoughtsTokenCount > 0 && { thoughtsTokenCount }),
      totalTokenCount: promptTokenCount + (ended ? candidatesTokenCount : 0),
    },
    modelVersion: question.model,
    responseId: 'localModel',
  };
}

function data(event: unknown): string {
  return `data: ${JSON.stringify(event)}\r\n\r\n`;
}

/** Error format of Google's APIs. Source: https://google.aip.dev/193 */
function refusal(code: number): unknown {
  const status = STATUSES[code] ?? 'INTERNAL';
  return { error: { code, message: 'The vendor explains it in its own words', status } };
}
