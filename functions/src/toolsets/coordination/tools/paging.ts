/** Pages of coordination's lists. */

import { z } from 'zod';
import { MusterError } from '../../../kernel/errors.ts';
import { listedId } from '../../../kernel/ids.ts';
import { fitting, parsedJson } from '../../../kernel/json.ts';
import type { Page, Slice } from '../../../kernel/paging.ts';
import { wholeNumber } from '../../../mcp/tool.ts';

/** Where a list goes on: the sort time and id of the last item given, opaque to callers. */
export const cursor = z.string().max(500).optional().describe('The last next_cursor');

/** How many items a page has: at most `most`, `usual` where the caller does not say. */
export const pageLimit = (description: string, usual: number, most: number) =>
  wholeNumber(1, most).default(usual).describe(description);

/** What a list says of its end. */
export const pageShape = {
  truncated: z.boolean().describe('Whether there is more; next_cursor continues.'),
  next_cursor: z.string().optional(),
};

const position = z.tuple([z.iso.datetime(), listedId]);

/** @throws MusterError INVALID_FORMAT for what is no cursor of ours */
export function pageAfter(encoded: string | undefined, limit: number): Page {
  if (encoded === undefined) return { limit };
  const decoded = position.safeParse(parsedJson(Buffer.from(encoded, 'base64url').toString()));
  if (decoded.success) return { limit, after: { at: new Date(decoded.data[0]), id: decoded.data[1] } };
  throw new MusterError('INVALID_FORMAT', 'This cursor is not one that a list has answered.', {
    field: 'cursor',
    suggestion: 'Send next_cursor as it was given, or leave the cursor out to start again.',
  });
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
