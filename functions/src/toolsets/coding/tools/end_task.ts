import { z } from 'zod';
import { anyJson } from '../../../mcp/jsonSchema.ts';
import { wholeNumber } from '../../../mcp/tool.ts';
import { FAILURE_CLASSES, text } from '../../coordination/index.ts';
import type { Ended } from '../rules/task.ts';
import {
  answerShape,
  asText,
  codingTaskAnswer,
  defineTool,
  epoch,
  success,
  taskId,
  taskShape,
  writing,
} from './codingAnswers.ts';

const MESSAGES: Readonly<Record<Ended['outcome'], string>> = {
  ended: 'Task ended.',
  retried: 'Task failed; it is available for another attempt.',
  returned: 'Task returned; it is available again, and the attempt does not count.',
  repeated: 'Task had ended with this outcome before.',
  kept: 'Somebody else had ended the task; your result was kept.',
  late: 'Another runner has the task now; your report was kept as its late result.',
};

/** A day: longer waits are decided by the creator of the task. */
const MAX_RETURN_SECONDS = 24 * 60 * 60;

export const endTask = defineTool({
  name: 'end_task',
  title: 'End a coding task',
  description:
    'Completes, fails or stops a coding task. Its creator and leaders may at any time; the runner then stops.',
  details:
    'Its runner reports the outcome with its epoch. Whoever created the task, and leaders, may end it at any time, and the runner then stops within a heartbeat. A failure whose class allows it makes the task available for another attempt, at most 3 in all. A runner that cannot work on any task now, or not on this one yet, returns it with failure.returnAfterSeconds. The result is any JSON up to 1 MiB. A runner sends summary, commits, diffstat, files, commands, tools, turns, tokens, costUsd, exit, durationMs, acceptance, pullRequest, base, branch and head as its result.',
  rare: ['epoch', 'failure'],
  input: z.strictObject({
    taskId,
    status: z.enum(['completed', 'failed']).describe('Final status'),
    result: anyJson.optional().describe('Its result'),
    epoch: epoch.optional(),
    failure: z
      .strictObject({
        class: z.enum(FAILURE_CLASSES).describe('Decides whether it is tried again'),
        message: text('For people', 5000),
        retryable: z.boolean().optional().describe('false: do not try again'),
        returnAfterSeconds: wholeNumber(0, MAX_RETURN_SECONDS)
          .optional()
          .describe('Return the task: available again after this time, and the attempt does not count'),
      })
      .optional()
      .describe('Why'),
  }),
  output: answerShape(
    z.object({
      task: taskShape,
      outcome: z
        .enum(['ended', 'retried', 'returned', 'repeated', 'kept', 'late'])
        .describe(
          'ended: the task is closed. retried: it is available for another attempt. returned: it is available again, and the attempt does not count. repeated: you had reported this. kept: somebody else had ended it, and your result was added. late: another runner has it now; your report was kept as its late result.',
        ),
    }),
  ),
  annotations: { ...writing, destructiveHint: true, idempotentHint: true },
  loosens: [],
  role: 'worker',
  example: {
    taskId: 'task-000abc-001',
    status: 'completed',
    result: { summary: 'Implemented login and logout with JWT.' },
  },
  answer: ({ task, now, outcome }: Ended, { result }) =>
    success(MESSAGES[outcome] + asText('The result', [result]), {
      task: codingTaskAnswer(task, now),
      outcome,
    }),
  handler: ({ services, workspace, principal, recordAnswer }, report) =>
    services.codingChanges.end(principal, { workspace, ...report }, recordAnswer),
});
