import { z } from 'zod';
import { anyJson } from '../../../mcp/jsonSchema.ts';
import { listUpTo, textUpTo } from '../../../mcp/tool.ts';
import { LOG_LEVELS, LOG_TYPES } from '../rules/log.ts';
import type { Appended } from '../rules/runners.ts';
import {
  answerShape,
  asText,
  defineTool,
  epoch,
  stopShape,
  success,
  taskId,
  writing,
} from './codingAnswers.ts';

const entry = z.strictObject({
  sequence: z
    .number()
    .refine((value) => Number.isSafeInteger(value) && value >= 0, 'expected a whole number from 0')
    .describe('Grows from entry to entry within the attempt: what is sent again is not appended again'),
  at: z.iso.datetime({ offset: true }).describe('When it happened'),
  level: z.enum(LOG_LEVELS).describe('How much it matters'),
  type: z.enum(LOG_TYPES).describe('What it comes from'),
  prefix: textUpTo(100).optional().describe('Who or what says it: a tool, a program'),
  message: textUpTo(16_000).describe('One line or several, without NUL characters'),
  data: anyJson.optional().describe('More of it, at most 16 KiB of JSON'),
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
    entries: listUpTo(500, entry).describe('In the order of their sequence, at most 500 and 256 KiB of JSON'),
  }),
  output: answerShape(
    z.object({
      accepted: z.number().describe('How many of the entries were new.'),
      cursor: z.string().describe('Where coding.get_task_logs goes on after them.'),
      leaseUntil: z.iso.datetime().optional(),
      stop: stopShape,
    }),
  ),
  annotations: { ...writing, idempotentHint: true },
  loosens: [],
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
  answer: ({ accepted, next, leaseUntil, stop }: Appended, { entries }) =>
    success(
      (stop?.message ?? `${accepted} entries appended.`) +
        asText(
          'The data of an entry',
          entries.map(({ data }) => data),
        ),
      { accepted, cursor: String(next), leaseUntil: leaseUntil?.toISOString(), stop },
    ),
  handler: ({ services, workspace, principal, recordAnswer }, { entries, ...claim }) => {
    const numbered = entries.map((one) => ({ ...one, at: new Date(one.at) }));
    return services.codingRunners.append(principal, { workspace, ...claim, entries: numbered }, recordAnswer);
  },
});
