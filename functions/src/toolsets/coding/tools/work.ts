/** The tools of a runner: register, claim, keep, report and end a task, and send its log. Source: the coding specification. */
import { z } from 'zod';
import { MusterError } from '../../../kernel/errors.ts';
import { idOf } from '../../../kernel/ids.ts';
import { anyJson } from '../../../mcp/jsonSchema.ts';
import { listUpTo, textUpTo, wholeNumber } from '../../../mcp/tool.ts';
import {
  CODING_TOOLS,
  FAILURE_CLASSES,
  messagesAnswer,
  messagesShape,
  text,
} from '../../coordination/index.ts';
import { LOG_LEVELS, LOG_TYPES } from '../rules/log.ts';
import type { Appended, Heartbeat, RunnerClaimed } from '../rules/runners.ts';
import type { Ended } from '../rules/task.ts';
import {
  answerShape,
  asText,
  codingTaskAnswer,
  defineTool,
  epoch,
  historyAnswer,
  pastAttemptAnswer,
  previousShape,
  reading,
  reportShape,
  reportText,
  stopShape,
  success,
  taskId,
  taskShape,
  writing,
} from './codingAnswers.ts';

export const registerRunner = defineTool({
  name: 'register_runner',
  title: 'Register a runner',
  description: 'For runners: declares the coding agents that are installed where you are.',
  details:
    'With their versions, as your capabilities, in place of those that you had. It answers who you are. A runner has the credential of an agent of its own.',
  input: z.strictObject({
    programs: listUpTo(
      20,
      z.strictObject({
        name: text('The program: claude or gemini', 100),
        version: text('What it says of itself', 100),
      }),
      'programs',
    )
      .min(1)
      .describe('The coding agents that you can start'),
    serves: z
      .enum(['owner', 'workspace'])
      .default('owner')
      .describe(
        'Whose tasks you take: those of your owner, or of all workers here, whose prompts you then run',
      ),
  }),
  output: answerShape(z.object({ agentId: z.string(), workspace: z.string() })),
  annotations: { ...writing, idempotentHint: true },
  loosens: [],
  role: 'worker',
  audience: 'runners',
  example: { programs: [{ name: 'claude', version: '2.1.197' }] },
  answer: (runner: { agentId: string; workspace: string }) =>
    success(`You are the runner ${runner.agentId}.`, runner),
  handler: async ({ services, workspace, principal, recordAnswer }, { programs, serves }) => {
    const { agent_id } = principal;
    if (agent_id === undefined)
      throw new MusterError('FORBIDDEN', 'Only an agent can be a runner, and you are a person.', {
        suggestion: 'Register an agent for it with onboarding.registerAgent, and use its credential.',
      });
    const runner = { agentId: agent_id, workspace };
    const capabilities = programs.map(({ name, version }) => ({
      name,
      category: 'coding agent',
      parameters: { version },
    }));
    await services.membership.join(principal, { ...runner, role: 'worker', capabilities, serves }, () =>
      recordAnswer(runner),
    );
    return runner;
  },
});

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

export const heartbeatTask = defineTool({
  name: 'heartbeat_task',
  title: 'Heartbeat of a coding task',
  description: 'For runners: renews the lease of a task that you hold, and may move its state on.',
  details:
    'in_progress when the agent works, waiting when the agent is done and its session still alive. Where it answers stop, end the work.',
  input: z.strictObject({
    taskId,
    epoch,
    state: z.enum(['in_progress', 'waiting']).optional().describe('Where the work is'),
    progress: text('What is being done, in a few words', 500).optional(),
  }),
  output: answerShape(
    z.object({
      leaseUntil: z.iso.datetime().optional().describe('Absent where you are to stop.'),
      stop: stopShape,
    }),
  ),
  annotations: { ...writing, idempotentHint: true },
  loosens: [],
  role: 'worker',
  routine: true,
  audience: 'runners',
  example: { taskId: 'task-000abc-001', epoch: 1, progress: 'Running the tests' },
  answer: ({ leaseUntil, stop }: Heartbeat) =>
    success(stop?.message ?? 'Lease renewed.', { leaseUntil: leaseUntil?.toISOString(), stop }),
  handler: ({ services, workspace, principal, recordAnswer }, beat) =>
    services.codingRunners.heartbeat(principal, { workspace, ...beat }, recordAnswer),
});

export const reportTask = defineTool({
  name: 'report_task',
  title: 'Report on a coding task',
  view: 'coding',
  description: "Returns a coding task's state, attempts, latest log lines, commits, files and cost.",
  details: 'Also why attempts failed, and the commands and tokens of its result.',
  input: z.strictObject({ taskId }),
  output: answerShape(reportShape),
  annotations: reading,
  answersWhole: true,
  role: 'viewer',
  example: { taskId: 'task-000abc-001' },
  text: ({ result }) => reportText(result),
  handler: async ({ services, workspace }, { taskId: id }) => {
    const { task, now, log } = await services.coding.findWithLog(workspace, id);
    const answer = codingTaskAnswer(task, now);
    return success(`Task ${task.id} is ${answer.status}.`, {
      task: answer,
      ...historyAnswer(task, log),
      result: task.coding.result && JSON.parse(await services.coding.result(task)),
    });
  },
});

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
