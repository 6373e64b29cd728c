/** Cursors of the system tools' lists: opaque to callers, and good for the filters that they were made with. */

import { z } from 'zod';
import { MusterError } from '../../../kernel/errors.ts';
import { listedId } from '../../../kernel/ids.ts';
import type { Place } from '../../../kernel/paging.ts';

export const cursor = z
  .string()
  .refine((text) => text.length <= 4000, 'expected a nextCursor of this tool')
  .optional()
  .describe('nextCursor of the page before');

/** What a list says of its end. */
export const pageShape = {
  truncated: z.boolean().optional().describe('Whether there is more; nextCursor, where given, goes on.'),
  nextCursor: z.string().optional(),
};

/** Milliseconds of the epoch that a Date can hold, and every smaller number. */
const LARGEST = 8.64e15;

const decoded = z.tuple([z.string(), z.array(z.int().min(-LARGEST).max(LARGEST)).max(4), listedId]);

/** @param filters what the list was asked for, as text */
export function encodeCursor(filters: string, place: Place): string {
  return Buffer.from(JSON.stringify([filters, place.order, place.id])).toString('base64url');
}

/** @throws MusterError INVALID_FORMAT for what is no cursor of ours, or one of a list with other filters */
export function decodeCursor(filters: string, encoded: string | undefined): Place | undefined {
  if (encoded === undefined) return undefined;
  const { success, data } = decoded.safeParse(parsed(Buffer.from(encoded, 'base64url').toString()));
  if (success && data[0] === filters) return { order: data[1], id: data[2] };
  throw new MusterError('INVALID_FORMAT', 'This cursor is not one that this list has answered.', {
    field: 'cursor',
    suggestion: 'Send nextCursor with the same filters as before, or leave the cursor out to start again.',
  });
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
