/** How lists are read: each is bounded, ordered and continued from a cursor. */
import { z } from 'zod';
import { MusterError } from './errors.ts';
import { listedId } from './ids.ts';
import { parsedJson } from './json.ts';

/** The place after which a list goes on: the sort time and the id of the last item given. */
export interface Position {
  readonly at: Date;
  readonly id: string;
}

export interface Page {
  readonly limit: number;
  readonly after?: Position;
}

/** A page of a list: at most its limit, and fewer where the items are large. */
export interface Slice<Item> {
  readonly items: readonly Item[];
  /** Whether the list goes on after these. */
  readonly more: boolean;
}

/** A part of a walk over what is due. Each has its place, at which the walk may be left and taken up again. */
export interface Batch<Item> {
  readonly found: readonly { readonly item: Item; readonly place: Position }[];
  /** Where the walk goes on, where it does. */
  readonly next?: Position | undefined;
}

export interface Found<Item> {
  readonly items: readonly Item[];
  /** Where the list goes on, where it does; a page may be shorter than asked for and go on all the same. */
  readonly next?: Place | undefined;
}

/** The place after which a list goes on: what it is ordered by, in the last item looked at, and its id. */
export interface Place {
  readonly order: readonly number[];
  readonly id: string;
}

/** Milliseconds of the epoch that a date can hold, and every smaller number. */
const LARGEST = 8.64e15;

const decoded = z.tuple([z.string(), z.array(z.int().min(-LARGEST).max(LARGEST)).max(4), listedId]);

/**
 * A cursor is opaque to callers, and good for the question that it was made for.
 * @param question what the list was asked for, as text
 */
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
