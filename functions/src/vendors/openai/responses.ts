/** Models with OpenAI's Responses API. Source: https://platform.openai.com/docs/api-reference/responses */
import type { OpenAI } from 'openai';
import { z } from 'zod';
import type { ModelRequest } from '../../toolsets/orchestration/index.ts';
import type { AnswerPart, ModelSettings } from '../vendorModel.ts';
import { OpenAiModel } from './openAi.ts';

const count = z.int().min(0).nullish();

const response = z.object({
  model: z.string().nullish(),
  error: z.object({ code: z.string().nullish() }).nullish(),
  incomplete_details: z.object({ reason: z.string().nullish() }).nullish(),
  usage: z.object({ input_tokens: count, output_tokens: count }).nullish(),
});

const DELTA = /^response\.(output_text|refusal|reasoning_summary_text|reasoning_text)\.delta$/;
const END = /^response\.(completed|incomplete|failed)$/;

/**
 * Events of a streamed response. Unknown ones are ignored, because OpenAI may add events. Source:
 * https://platform.openai.com/docs/api-reference/responses-streaming
 */
const event = z
  .object({ type: z.string(), delta: z.unknown().optional(), response: response.optional() })
  .refine(
    ({ type, delta, response: whole }) =>
      !(DELTA.test(type) && typeof delta !== 'string') && (!END.test(type) || whole),
  )
  .transform(({ type, delta, response: whole }): AnswerPart => {
    if (typeof delta === 'string' && DELTA.test(type)) {
      if (type === 'response.output_text.delta') return { text: delta };
      return { thought: delta, ...(type === 'response.refusal.delta' && { finish: 'refusal' }) };
    }
    const { model, usage, error, incomplete_details: cut } = whole ?? {};
    return {
      model: model ?? undefined,
      ...(usage && { usage: { input_tokens: usage.input_tokens ?? 0, output_tokens: usage.output_tokens ?? 0 } }),
      ...(type === 'response.incomplete' && { finish: cut?.reason ?? 'incomplete' }),
      ...(type === 'response.failed' && { error: { code: error?.code ?? 'server_error' } }),
      ended: END.test(type),
    };
  });

/** Minimum number of output tokens that the API accepts. */
const MIN_OUTPUT_TOKENS = 16;

export class OpenAiResponses extends OpenAiModel<ModelSettings> {
  protected readonly part = event;

  protected async open({ responses }: OpenAI, { prompt, maxOutputTokens }: ModelRequest, signal: AbortSignal) {
    const { effort } = this.settings;
    return responses.create(
      {
        model: this.model,
        input: prompt,
        max_output_tokens: Math.max(MIN_OUTPUT_TOKENS, maxOutputTokens),
        store: false,
        stream: true,
        ...(effort !== undefined && { reasoning: { effort } }),
      },
      { signal },
    );
  }

  protected meaningOf(finish: string) {
    if (finish === 'refusal' || finish === 'content_filter') return 'refused';
    if (finish === 'max_output_tokens') return 'cut';
    return finish === '' ? 'whole' : 'none';
  }
}
