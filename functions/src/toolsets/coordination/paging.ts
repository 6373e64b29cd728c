/** Cursors of coordination's lists: the sort time and id of the last item given, opaque to callers. */
import { z } from 'zod';
import { MusterError } from '../../domain/errors.ts';
import { listedId } from '../../domain/ids.ts';
import type { Position, Slice } from '../../domain/readers.ts';
import { fitting } from '../../domain/size.ts';

export const cursor = z.string().max(500).optional().describe('next_cursor of the page before');

/** How many items a page has: at most `most`, `usual` where the caller does not say. */
export const pageLimit = (description: string, usual: number, most: number) =>
  z
    .number()
    .refine(
      (limit) => Number.isInteger(limit) && limit >= 1 && limit <= most,
      `expected a whole number from 1 to ${most}`,
    )
    .default(usual)
    .describe(description);

/** What a list says of its end. */
export const pageShape = {
  truncated: z.boolean().describe('Whether there is more; next_cursor continues.'),
  next_cursor: z.string().optional(),
};

const position = z.tuple([z.iso.datetime(), listedId]);

/** @throws MusterError INVALID_FORMAT for what is no cursor of ours */
export function positionOf(encoded: string | undefined): { after?: Position } {
  if (encoded === undefined) return {};
  const decoded = position.safeParse(parsed(Buffer.from(encoded, 'base64url').toString()));
  if (decoded.success) return { after: { at: new Date(decoded.data[0]), id: decoded.data[1] } };
  throw new MusterError('INVALID_FORMAT', 'This cursor is not one that a list has answered.', {
    field: 'cursor',
    suggestion: 'Send next_cursor as it was given, or leave the cursor out to start again.',
  });
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** What an answer has room for, whether the list goes on, and the cursor that continues it. */
export function pageOf<Item extends { readonly id: string }, Answer>(
  { items: found, more }: Slice<Item>,
  timeOf: (item: Item) => Date | undefined,
  answerOf: (item: Item) => Answer,
): { items: Answer[]; end: { truncated: boolean; next_cursor?: string } } {
  const given = fitting(found, answerOf);
  const items = given.map(answerOf);
  const last = given.at(-1);
  const at = last && timeOf(last);
  const isEnd = !more && given.length === found.length;
  if (isEnd || last === undefined || at === undefined) return { items, end: { truncated: false } };
  const next = Buffer.from(JSON.stringify([at.toISOString(), last.id])).toString('base64url');
  return { items, end: { truncated: true, next_cursor: next } };
}
