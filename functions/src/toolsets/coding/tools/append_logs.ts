import { z } from 'zod';
import { jsonValue } from '../../../kernel/json.ts';
import { defineTool } from '../../../mcp/tool.ts';
import { LOG_LEVELS, LOG_TYPES } from '../rules/log.ts';
import type { Appended } from '../rules/runners.ts';
import { answerShape, epoch, stopShape, success, taskId, writing } from './shapes.ts';

/** The most entries of one call. */
const MAX_ENTRIES = 500;
const MAX_MESSAGE_LENGTH = 16_000;
const MAX_PREFIX_LENGTH = 100;

const entry = z.strictObject({
  sequence: z
    .number()
    .refine((value) => Number.isSafeInteger(value) && value >= 0, 'expected a whole number from 0')
    .describe('Grows from entry to entry within the attempt: what is sent again is not appended again'),
  at: z.iso.datetime({ offset: true }).describe('When it happened'),
  level: z.enum(LOG_LEVELS).describe('How much it matters'),
  type: z.enum(LOG_TYPES).describe('What it comes from'),
  prefix: z
    .string()
    .refine((value) => value.length <= MAX_PREFIX_LENGTH, `expected at most ${MAX_PREFIX_LENGTH} characters`)
    .optional()
    .describe('Who or what says it: a tool, a program'),
  message: z
    .string()
    .refine(
      (value) => value.length <= MAX_MESSAGE_LENGTH,
      `expected at most ${MAX_MESSAGE_LENGTH} characters`,
    )
    .describe('One line or several, without NUL characters'),
  data: z.unknown().optional().describe('More of it, at most 16 KiB of JSON'),
});

export const appendLogs = defineTool({
  name: 'append_logs',
  title: 'Append to the log of a coding task',
  description: 'For runners: appends to the log of a task that you hold, and renews the lease.',
  details:
    'Each sequence once. The first call moves the task to in_progress. Where it answers stop, end the work: what it brought is logged all the same if the task was ended, not if the claim was lost.',
  input: z.strictObject({
    taskId,
    epoch,
    entries: z
      .array(entry)
      .refine((list) => list.length <= MAX_ENTRIES, `expected at most ${MAX_ENTRIES} entries`)
      .describe('In the order of their sequence, at most 500 and 256 KiB of JSON'),
  }),
  output: answerShape(
    z.object({
      accepted: z.number().describe('How many of the entries were new.'),
      cursor: z.string().describe('Where get_task_logs goes on after them.'),
      leaseUntil: z.iso.datetime().optional(),
      stop: stopShape,
    }),
  ),
  annotations: { ...writing, idempotentHint: true },
  role: 'worker',
  audience: 'runners',
  example: {
    taskId: 'task-000abc-001',
    epoch: 1,
    entries: [
      {
        sequence: 0,
        at: '2026-11-22T10:00:00Z',
        level: 'info',
        type: 'agent',
        message: 'Reading src/app.ts',
      },
    ],
  },
  answer: ({ accepted, next, leaseUntil, stop }: Appended) =>
    success(stop?.message ?? `${accepted} entries appended.`, {
      accepted,
      cursor: String(next),
      leaseUntil: leaseUntil?.toISOString(),
      stop,
    }),
  handler: ({ services, workspace, principal, recordAnswer }, { entries, ...claim }) => {
    const numbered = entries.map(({ at, prefix, data, ...rest }) => ({
      ...rest,
      at: new Date(at),
      ...(prefix !== undefined && { prefix }),
      ...(data !== undefined && { data: jsonValue.parse(data) }),
    }));
    return services.codingRunners.append(principal, { workspace, ...claim, entries: numbered }, recordAnswer);
  },
});
