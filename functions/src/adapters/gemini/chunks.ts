/**
 * The pieces of a streamed answer, as far as they are used.
 * Source: https://ai.google.dev/api/generate-content#v1beta.GenerateContentResponse
 */
import { z } from 'zod';

const count = z.int().min(0).nullish();

const candidate = z.object({
  content: z
    .object({
      parts: z.array(z.object({ text: z.string().nullish(), thought: z.boolean().nullish() })).nullish(),
    })
    .nullish(),
  finishReason: z.string().nullish(),
});

export const chunk = z
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

export type Chunk = z.output<typeof chunk>;

/** What the model says, without what it thinks. */
export function textOf({ candidates }: Chunk): string {
  const parts = candidates?.[0]?.content?.parts ?? [];
  return parts.map(({ text, thought }) => (thought === true ? '' : (text ?? ''))).join('');
}
