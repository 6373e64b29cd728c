/** Arguments and answers that coding's tools share. Source: spec/coding.md, "Tool Response Format". */

import { z } from 'zod';
import { idOf } from '../../../kernel/ids.ts';
import { CODING_TOOLS, FAILURE_CLASSES, TASK_STATUSES } from '../../coordination/index.ts';
import { LOG_LEVELS, LOG_TYPES } from '../rules/log.ts';
import { CODING_STATUSES } from '../rules/task.ts';

export const taskId = idOf('a task').describe('Task identifier');

/** A whole number within bounds. */
export const whole = (description: string, least: number, most: number) =>
  z
    .number()
    .refine(
      (value) => Number.isInteger(value) && value >= least && value <= most,
      `expected a whole number from ${least} to ${most}`,
    )
    .describe(description);

export const epoch = z
  .number()
  .refine((value) => Number.isSafeInteger(value) && value > 0, 'expected a whole number above 0')
  .describe('From coding_claim_task, for runners');

/** Every answer: what happened in a sentence, and its result. */
export const answerShape = <Result extends z.ZodType>(result: Result) =>
  z.object({ status: z.literal('success'), message: z.string(), result });

export function success<Result>(message: string, result: Result) {
  return { status: 'success' as const, message, result };
}

const time = z.iso.datetime();

const failureShape = z.object({
  class: z.enum(FAILURE_CLASSES).describe('Why it failed, for a program.'),
  message: z.string().describe('Why it failed, for people.'),
});

const commitShape = z.object({ sha: z.string(), subject: z.string() });

/** A coding task as every tool and resource shows it. */
export const taskShape = z.object({
  id: z.string(),
  tool: z.enum(CODING_TOOLS),
  description: z.string(),
  instructions: z.string(),
  branch: z.string(),
  config: z.record(z.string(), z.unknown()),
  project: z.string().optional().describe('The repository: owner/name, or a label of the runner.'),
  status: z.enum(CODING_STATUSES),
  state: z.enum(TASK_STATUSES).describe('The status as it is stored, which tells more apart.'),
  priority: z.number().describe('1 (first) to 10 (last).'),
  createdAt: time,
  createdBy: z.string(),
  queueEndsAt: time.optional().describe('While it waits for a runner: when it has waited too long.'),
  retryAt: time.optional().describe('While it waits before another attempt: until when.'),
  attempt: z.number().describe('How often it has been claimed.'),
  runner: z.string().optional().describe('The agent that holds it or closed it.'),
  epoch: z.number().optional().describe('Of the claim.'),
  claimedAt: time.optional(),
  leaseUntil: time.optional(),
  startedAt: time.optional(),
  completedAt: time.optional(),
  durationMs: z.number().optional().describe('From claim to end, or until now.'),
  progress: z.string().optional().describe('What its runner last said of it.'),
  summary: z.string().optional().describe('What came of it, in words.'),
  error: z.string().optional(),
  failure: failureShape.optional(),
});

/** What a runner is told of an attempt before its own. */
export const previousShape = z.object({
  branch: z.string(),
  runner: z.string(),
  endedAt: time,
  failure: failureShape,
  commits: z.array(commitShape),
});

export const stopShape = z
  .object({
    reason: z.enum(['ended', 'claim_lost']),
    message: z.string(),
  })
  .optional()
  .describe('Stop working on the task: somebody has ended it, or the claim is no longer yours.');

export const logEntryShape = z.object({
  line: z.number().describe('From 0, over all attempts.'),
  at: time,
  level: z.enum(LOG_LEVELS),
  type: z.enum(LOG_TYPES),
  prefix: z.string().optional(),
  message: z.string(),
  data: z.unknown().optional(),
});

/** Hints of what writes. */
export const writing = { readOnlyHint: false, destructiveHint: false, openWorldHint: false } as const;

/** Hints of what reads. */
export const reading = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;
