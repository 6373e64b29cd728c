/** What tools take of a task, pages of lists, and the answer that tells the status. */

import { z } from 'zod';
import { MusterError } from '../../../kernel/errors.ts';
import { idOf, listedId } from '../../../kernel/ids.ts';
import { fitting } from '../../../kernel/json.ts';
import type { Position, Slice } from '../../../kernel/paging.ts';
import { capabilityKey, MAX_CAPABILITY_KEY_BYTES, MAX_REQUIRED_CAPABILITIES } from '../rules/codingTask.ts';
import type { CoordinationStatus } from '../rules/coordination.ts';
import type { TaskDraft } from '../rules/creation.ts';
import {
  CODING_TYPE,
  COORDINATION_STATUSES,
  coordinationStatus,
  isHeld,
  MAX_TYPE_LENGTH,
  type Task,
  TYPE_NAME,
  USUAL_TYPE,
} from '../rules/task.ts';
import { text, texts } from './shapes.ts';

const MAX_DEPENDENCIES = 100;

const isPriority = (priority: number): boolean =>
  Number.isInteger(priority) && priority >= 1 && priority <= 10;

const isShortEnough = (required: readonly string[]): boolean =>
  Buffer.byteLength(capabilityKey(required)) <= MAX_CAPABILITY_KEY_BYTES;

export const priority = z
  .number()
  .refine(isPriority, 'expected a whole number from 1 to 10')
  .describe('1 (first) to 10 (last)');

/** The arguments without `priority`, whose default the two tools state differently. */
export const taskArguments = {
  description: text('Task description', 20_000),
  dependencies: z
    .array(idOf('a task'))
    .refine((list) => list.length <= MAX_DEPENDENCIES, `expected at most ${MAX_DEPENDENCIES} entries`)
    .optional()
    .describe('Tasks to complete first, by id'),
  context_files: texts('Relevant files', 200).optional(),
  hints: text('For the worker', 20_000).optional(),
  required_capabilities: z
    .array(z.string().regex(/^[^|\s][^|]{0,99}$/, 'expected 1 to 100 characters without "|"'))
    .refine(
      (list) => list.length <= MAX_REQUIRED_CAPABILITIES,
      `expected at most ${MAX_REQUIRED_CAPABILITIES} entries`,
    )
    .refine(isShortEnough, `expected at most ${MAX_CAPABILITY_KEY_BYTES} bytes in all`)
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

// Cursors of coordination's lists: the sort time and id of the last item given, opaque to callers.

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

export const statusShape = z.object({
  goal: z.string(),
  tasks: z.object({
    available: z.number(),
    claimed: z.number(),
    in_progress: z.number(),
    done: z.number(),
    failed: z.number(),
  }),
  blocked_tasks: z
    .number()
    .describe('How many of the available tasks wait for others, or for a retry, and cannot be claimed yet.'),
  total_tasks: z.number(),
  progress_percent: z.number(),
  agents: z.object({ total: z.number(), leaders: z.number(), workers: z.number(), active: z.number() }),
  discoveries_count: z.number(),
  last_activity: z.string().nullable(),
  late: z
    .object({
      count: z.number(),
      tasks: z.array(
        z.object({
          id: z.string(),
          deadline: z.string().optional(),
          status: z.enum(COORDINATION_STATUSES),
          claimed_by: z.string().optional(),
        }),
      ),
    })
    .optional()
    .describe('Tasks that are not closed and past their deadline; the first 10 by deadline are named.'),
});

/** Progress is the floor of done over all: 100 means that everything is done. */
export function statusAnswer({
  session,
  counters,
  blocked,
  members,
  late,
}: CoordinationStatus): z.output<typeof statusShape> {
  const { counts, lastActivity } = counters;
  const tasks = {
    available: counts.available,
    claimed: counts.claimed,
    in_progress: counts.in_progress + counts.waiting,
    done: counts.done,
    failed: counts.failed + counts.cancelled,
  };
  const total = tasks.available + tasks.claimed + tasks.in_progress + tasks.done + tasks.failed;
  return {
    goal: session?.goal ?? '',
    tasks,
    // A task may have been claimed since the others were counted.
    blocked_tasks: Math.min(blocked, tasks.available),
    total_tasks: total,
    progress_percent: total === 0 ? 0 : Math.floor((tasks.done * 100) / total),
    agents: {
      total: members.total,
      leaders: members.leaders,
      workers: members.total - members.leaders,
      active: members.active,
    },
    discoveries_count: counts.discoveries,
    last_activity: (lastActivity ?? session?.createdAt)?.toISOString() ?? null,
    ...(late.count > 0 && { late: { count: late.count, tasks: late.first.map(lateAnswer) } }),
  };
}

function lateAnswer({ id, deadline, status, claim }: Task) {
  return {
    id,
    ...(deadline && { deadline: deadline.toISOString() }),
    status: coordinationStatus(status),
    ...(claim && isHeld(status) && { claimed_by: claim.agentId }),
  };
}
