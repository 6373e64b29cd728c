/** Cursors of the lists of to-dos: opaque to callers, and good for the question that they were made for. */
import { z } from 'zod';
import { MusterError } from '../../domain/errors.ts';
import { listedId } from '../../domain/ids.ts';
import { canonicalJson } from '../../domain/json.ts';
import type { TodoPage, TodoPlace } from '../../domain/todos/query.ts';

export const MAX_LIMIT = 100;

export const cursor = z
  .string()
  .refine((text) => text.length <= 20_000, 'expected a next_cursor of this tool')
  .optional()
  .describe('next_cursor of the page before');

/** A limit whose bounds the contract does not list. */
export const pageLimit = (usual = 10) =>
  z
    .int()
    .refine((limit) => limit >= 1 && limit <= MAX_LIMIT, `expected a whole number from 1 to ${MAX_LIMIT}`)
    .default(usual)
    .describe(`1 to ${MAX_LIMIT}`);

export const listedLimit = z.int().min(1).max(MAX_LIMIT).default(10).describe('How many');

/** What a list says of its end. */
export const endShape = {
  truncated: z.boolean().optional().describe('Whether there is more; next_cursor goes on.'),
  next_cursor: z.string().optional(),
};

/** What a list whose total is known says of its pages. */
export const pagesShape = {
  total_pages: z.int().optional().describe('How many pages of this limit hold all of it.'),
  has_previous: z.boolean().optional().describe('Whether there is a page before this one.'),
};

export function pagesOf(total: number, { limit, cursor: from }: AskedPage) {
  return { total_pages: Math.ceil(total / limit), has_previous: from !== undefined };
}

/** Milliseconds of the epoch that a date can hold, and every smaller number. */
const LARGEST = 8.64e15;

const decoded = z.tuple([z.string(), z.array(z.int().min(-LARGEST).max(LARGEST)).max(4), listedId]);

export interface AskedPage {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** @throws MusterError INVALID_FORMAT for what is no cursor of ours, or one of another question */
export function pageOf(question: object, { limit, cursor: encoded }: AskedPage): TodoPage {
  if (encoded === undefined) return { limit };
  const { success, data } = decoded.safeParse(parsed(Buffer.from(encoded, 'base64url').toString()));
  if (success && data[0] === canonicalJson(question))
    return { limit, after: { order: data[1], id: data[2] } };
  throw new MusterError('INVALID_FORMAT', 'This cursor is not one that this list has answered.', {
    field: 'cursor',
    suggestion: 'Send next_cursor with the same arguments as before, or leave the cursor out to start again.',
  });
}

export function endOf(question: object, next: TodoPlace | undefined) {
  if (next === undefined) return { truncated: false };
  const json = JSON.stringify([canonicalJson(question), next.order, next.id]);
  return { truncated: true, next_cursor: Buffer.from(json).toString('base64url') };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
