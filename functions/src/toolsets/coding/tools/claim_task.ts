import { z } from 'zod';
import { idOf } from '../../../kernel/ids.ts';
import { wholeNumber } from '../../../mcp/tool.ts';
import { CODING_TOOLS, messagesAnswer, messagesShape, text } from '../../coordination/index.ts';
import type { RunnerClaimed } from '../rules/runners.ts';
import {
  answerShape,
  codingTaskAnswer,
  defineTool,
  pastAttemptAnswer,
  previousShape,
  success,
  taskId,
  taskShape,
  writing,
} from './codingAnswers.ts';

const claimedShape = taskShape
  .pick({
    id: true,
    tool: true,
    description: true,
    instructions: true,
    branch: true,
    config: true,
    project: true,
    attempt: true,
  })
  .extend({ epoch: z.number(), leaseUntil: z.iso.datetime(), previous: previousShape.optional() });

/** How long a runner may be silent, in seconds. Source: docs/guides/runner.md. */
const USUAL_LEASE_SECONDS = 120;

export const claimTask = defineTool({
  name: 'claim_task',
  title: 'Claim a coding task',
  description:
    'For runners: claims the first coding task, by priority, then age, that one of your tools can do, or waits for one.',
  details:
    'The claim is a lease that coding.append_logs and coding.heartbeat_task renew and nothing else; its epoch goes with every report. A runner says itself how many tasks it takes at once.',
  input: z.strictObject({
    agentId: idOf('an agent')
      .optional()
      .describe('The agent to claim for: your own where it is left out; leaders may name another'),
    tools: z
      .array(z.enum(CODING_TOOLS))
      .min(1)
      .max(CODING_TOOLS.length)
      .optional()
      .describe(
        'Only tasks for these tools; those whose programs the agent has declared where it is left out',
      ),
    project: text(
      'The repository that you have, as owner/name or a label: its tasks and those of no project',
      80,
    )
      .refine((name) => !name.includes('|'), 'expected no "|"')
      .optional(),
    taskId: taskId.optional().describe('Only this task'),
    waitMs: wholeNumber(0, 25_000)
      .default(0)
      .describe('How long to wait for a task, in milliseconds; 0 answers at once'),
    leaseSeconds: wholeNumber(15, 3600)
      .describe('How long the claim stands without a sign of life')
      .default(USUAL_LEASE_SECONDS),
    readUntil: idOf('a message')
      .optional()
      .describe('The last message that you have handed on: they come no more'),
  }),
  output: answerShape(z.object({ task: claimedShape.nullable(), messages: messagesShape })),
  annotations: { ...writing, idempotentHint: false },
  answersWhole: true,
  loosens: [],
  role: 'worker',
  notifies: true,
  audience: 'runners',
  example: { agentId: 'terminal-2', tools: ['CLAUDECODE'], waitMs: 0 },
  answer: ({ task, messages }: RunnerClaimed) => {
    if (task?.claim === undefined) return success('No task to claim.', { task: null });
    const { coding, claim } = task;
    const previous = coding.attempts.at(-1);
    return success(`Task ${task.id} is yours.`, {
      task: {
        ...codingTaskAnswer(task, claim.claimed_at),
        epoch: claim.claim_epoch,
        leaseUntil: claim.lease_expires_at.toISOString(),
        previous: previous && pastAttemptAnswer(task, previous),
      },
      messages: messagesAnswer(messages),
    });
  },
  handler: ({ services, workspace, principal, gone, waiting, recordAnswer }, wishes) =>
    services.codingRunners.claim(principal, { workspace, ...wishes }, { gone, waiting }, recordAnswer),
});
