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

/** Events of a streamed response. Source: https://platform.openai.com/docs/api-reference/responses-streaming */
const known = z.discriminatedUnion('type', [
  z.object({ type: z.literal('response.created'), response }),
  z.object({ type: z.literal('response.output_text.delta'), delta: z.string() }),
  z.object({ type: z.literal('response.refusal.delta'), delta: z.string() }),
  z.object({ type: z.literal('response.reasoning_summary_text.delta'), delta: z.string() }),
  z.object({ type: z.literal('response.reasoning_text.delta'), delta: z.string() }),
  z.object({ type: z.literal('response.completed'), response }),
  z.object({ type: z.literal('response.incomplete'), response }),
  z.object({ type: z.literal('response.failed'), response }),
]);

const KNOWN: ReadonlySet<string> = new Set(known.options.map(({ shape }) => shape.type.value));

/** Other events are ignored, because most repeat what the known ones contain, and OpenAI may add events. */
const other = z
  .object({ type: z.string().refine((type) => !KNOWN.has(type)) })
  .transform(() => ({ type: 'other' as const }));

const event = z.union([known, other]).transform((event): AnswerPart => {
  switch (event.type) {
    case 'other':
      return {};
    case 'response.output_text.delta':
      return { text: event.delta };
    case 'response.refusal.delta':
      return { thought: event.delta, finish: 'refusal' };
    case 'response.reasoning_summary_text.delta':
    case 'response.reasoning_text.delta':
      return { thought: event.delta };
    default:
      return whole(event);
  }
});

function whole({
  type,
  response: { model, usage, error, incomplete_details: cut },
}: z.output<typeof ending>): AnswerPart {
  return {
    model: model ?? undefined,
    ...(usage && { usage: { input_tokens: usage.input_tokens ?? 0, output_tokens: usage.output_tokens ?? 0 } }),
    ...(type === 'response.incomplete' && { finish: cut?.reason ?? 'incomplete' }),
    ...(type === 'response.failed' && { error: { code: error?.code ?? 'server_error' } }),
    ended: type !== 'response.created',
  };
}

const ending = z.object({ type: z.string(), response });

export class OpenAiResponses extends OpenAiModel<ModelSettings> {
  protected readonly part = event;

  protected async open(
    { responses }: OpenAI,
    { prompt, maxOutputTokens }: ModelRequest,
    signal: AbortSignal,
  ): Promise<AsyncIterable<unknown>> {
    const { effort } = this.settings;
    return responses.create(
      {
        model: this.model,
        input: prompt,
        max_output_tokens: maxOutputTokens,
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
