/** Cursors of lists: opaque to callers, and good for the question that they were made for. */
import { z } from 'zod';
import { MusterError } from './errors.ts';
import { listedId } from './ids.ts';
import { parsedJson } from './json.ts';
import type { Place } from './paging.ts';

/** Milliseconds of the epoch that a date can hold, and every smaller number. */
const LARGEST = 8.64e15;

const decoded = z.tuple([z.string(), z.array(z.int().min(-LARGEST).max(LARGEST)).max(4), listedId]);

/** @param question what the list was asked for, as text */
export function encodeCursor(question: string, { order, id }: Place): string {
  return Buffer.from(JSON.stringify([question, order, id])).toString('base64url');
}

/** @throws MusterError INVALID_FORMAT for what is no cursor of ours, or one of another question */
export function decodeCursor(
  question: string,
  encoded: string | undefined,
  suggestion: string,
): Place | undefined {
  if (encoded === undefined) return undefined;
  const { success, data } = decoded.safeParse(parsedJson(Buffer.from(encoded, 'base64url').toString()));
  if (success && data[0] === question) return { order: data[1], id: data[2] };
  throw new MusterError('INVALID_FORMAT', 'This cursor is not one that this list has answered.', {
    field: 'cursor',
    suggestion,
  });
}
