/**
 * The events of a streamed message, as far as they are used; others are passed over, since new ones may come.
 * Source: https://platform.claude.com/docs/en/build-with-claude/streaming
 */
import { z } from 'zod';

const count = z.int().min(0);

const counts = z.object({
  input_tokens: count.nullish(),
  cache_creation_input_tokens: count.nullish(),
  cache_read_input_tokens: count.nullish(),
  output_tokens: count.nullish(),
});

export type Counts = z.output<typeof counts>;

const known = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message_start'), message: z.object({ model: z.string(), usage: counts }) }),
  z.object({
    type: z.literal('content_block_delta'),
    delta: z.object({ type: z.string(), text: z.string().optional() }),
  }),
  z.object({
    type: z.literal('message_delta'),
    delta: z.object({ stop_reason: z.string().nullish() }),
    usage: counts,
  }),
  z.object({ type: z.literal('message_stop') }),
]);

const KNOWN: ReadonlySet<string> = new Set(known.options.map(({ shape }) => shape.type.value));

const other = z
  .object({ type: z.string().refine((type) => !KNOWN.has(type)) })
  .transform(() => ({ type: 'other' as const }));

export const event = z.union([known, other]);
