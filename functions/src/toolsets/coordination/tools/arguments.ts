/** What tools take of a task, and pages of lists. */

import { z } from 'zod';
import { MusterError } from '../../../kernel/errors.ts';
import { idOf, listedId } from '../../../kernel/ids.ts';
import { fitting, parsedJson } from '../../../kernel/json.ts';
import type { Page, Slice } from '../../../kernel/paging.ts';
import type { TaskDraft } from '../rules/creation.ts';
import {
  CODING_TYPE,
  capabilityKey,
  MAX_CAPABILITY_KEY_BYTES,
  MAX_REQUIRED_CAPABILITIES,
  USUAL_TYPE,
} from '../rules/task.ts';
import { listUpTo, text, texts, wholeNumber } from './shapes.ts';

const MAX_DEPENDENCIES = 100;

const MAX_TYPE_LENGTH = 50;

/** A type that a creator names: a word, with digits and dashes in it if need be. */
const TYPE_NAME = /^[a-z][a-z0-9]*([_-][a-z0-9]+)*$/;

export const priority = wholeNumber(10).describe('1 (first) to 10 (last)');

/** The arguments without `priority`, whose default the two tools state differently. */
export const taskArguments = {
  description: text('Task description', 20_000),
  dependencies: listUpTo(MAX_DEPENDENCIES, idOf('a task'))
    .optional()
    .describe('Tasks to complete first, by id'),
  context_files: texts('Relevant files', 200).optional(),
  hints: text('For the worker', 20_000).optional(),
  required_capabilities: listUpTo(
    MAX_REQUIRED_CAPABILITIES,
    z.string().regex(/^[^|\s][^|]{0,99}$/, 'expected 1 to 100 characters without "|"'),
  )
    .refine(
      (required) => Buffer.byteLength(capabilityKey(required)) <= MAX_CAPABILITY_KEY_BYTES,
      `expected at most ${MAX_CAPABILITY_KEY_BYTES} bytes in all`,
    )
    .optional()
    .describe('Only agents that have all of these get it'),
  type: z
    .string()
    .refine(
      (name) => TYPE_NAME.test(name) && name.length <= MAX_TYPE_LENGTH,
      `expected a lower-case word such as "research" or "bug-fix", of at most ${MAX_TYPE_LENGTH} characters`,
    )
    .refine((name) => name !== CODING_TYPE, 'expected another type: coding.create_task makes coding tasks')
    .optional()
    .describe(`A word to filter by; ${USUAL_TYPE} if left out`),
  deadline: z.iso
    .datetime({ offset: true })
    .refine((text) => new Date(text).getUTCFullYear() <= 9999, 'expected a date before the year 10000')
    .optional()
    .describe('At equal priority, earlier ones go first'),
};

/** The priority of a task that names none. */
export const USUAL_PRIORITY = 5;

type Written = z.output<z.ZodObject<typeof taskArguments>> & { readonly priority?: number | undefined };

export function draftOf(written: Written): TaskDraft {
  return {
    description: written.description,
    priority: written.priority ?? USUAL_PRIORITY,
    dependencies: written.dependencies ?? [],
    files: written.context_files ?? [],
    hints: written.hints,
    requiredCapabilities: written.required_capabilities ?? [],
    type: written.type,
    deadline: written.deadline === undefined ? undefined : new Date(written.deadline),
  };
}

/** Where a list goes on: the sort time and id of the last item given, opaque to callers. */
export const cursor = z.string().max(500).optional().describe('next_cursor of the page before');

/** How many items a page has: at most `most`, `usual` where the caller does not say. */
export const pageLimit = (description: string, usual: number, most: number) =>
  wholeNumber(most).default(usual).describe(description);

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
