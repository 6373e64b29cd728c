/**
 * Models with OpenAI's Chat Completions API, which Ollama, vLLM, OpenRouter, LiteLLM and Azure have too. Source:
 * https://platform.openai.com/docs/api-reference/chat-streaming
 */
import type { OpenAI } from 'openai';
import { z } from 'zod';
import type { ModelRequest } from '../../toolsets/orchestration/index.ts';
import type { AnswerPart, ModelSettings } from '../vendorModel.ts';
import { OpenAiModel } from './openAi.ts';

export interface ChatSettings extends ModelSettings {
  /** Parameter that limits the output. */
  readonly outputLimit: 'max_tokens' | 'max_completion_tokens';
  /** Field of the usage with the cost in US dollars. */
  readonly costField?: string | undefined;
}

const count = z.int().min(0).nullish();
const text = z.string().nullish();

const choice = z.object({
  delta: z.object({ content: text, refusal: text, reasoning_content: text, reasoning: text }).nullish(),
  finish_reason: z.string().nullish(),
});

/** Returns the schema of a chunk. The last chunk has the usage and no choices; some servers never send it. */
function chunk(costField: string | undefined) {
  return z
    .object({
      model: text,
      choices: z.array(choice),
      usage: z.looseObject({ prompt_tokens: count, completion_tokens: count }).nullish(),
    })
    .transform(({ model, choices, usage }): AnswerPart => {
      const { delta, finish_reason } = choices[0] ?? {};
      const cost = z
        .number()
        .min(0)
        .safeParse(costField === undefined ? undefined : usage?.[costField]).data;
      return {
        text: delta?.content ?? undefined,
        thought: `${delta?.reasoning_content ?? delta?.reasoning ?? ''}${delta?.refusal ?? ''}`,
        model: model || undefined,
        ...(usage && {
          usage: {
            input_tokens: usage.prompt_tokens ?? 0,
            output_tokens: usage.completion_tokens ?? 0,
            ...(cost !== undefined && { cost_usd: cost }),
          },
        }),
        finish: delta?.refusal ? 'content_filter' : (finish_reason ?? undefined),
        ended: Boolean(finish_reason),
      };
    });
}

/** Finish reasons of responses without an answer. */
const NO_ANSWER: ReadonlySet<string> = new Set(['', 'tool_calls', 'function_call', 'error']);

export class OpenAiChat extends OpenAiModel<ChatSettings> {
  protected readonly part = chunk(this.settings.costField);

  protected async open({ chat }: OpenAI, { prompt, maxOutputTokens }: ModelRequest, signal: AbortSignal) {
    const { outputLimit, effort } = this.settings;
    return chat.completions.create(
      {
        model: this.model,
        messages: [{ role: 'user', content: prompt }],
        [outputLimit]: maxOutputTokens,
        stream: true,
        stream_options: { include_usage: true },
        ...(effort !== undefined && { reasoning_effort: effort }),
      },
      { signal },
    );
  }

  protected meaningOf(finish: string) {
    if (finish === 'content_filter') return 'refused';
    if (finish === 'length') return 'cut';
    // Servers other than OpenAI's end answers with other reasons, too.
    return NO_ANSWER.has(finish) ? 'none' : 'whole';
  }
}
