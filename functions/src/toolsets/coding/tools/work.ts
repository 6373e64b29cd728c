/** Tools for runners, and the tools report_task and end_task. Source: the coding specification. */
import { z } from 'zod';
import { MusterError } from '../../../kernel/errors.ts';
import { idOf } from '../../../kernel/ids.ts';
import { SECOND_MS } from '../../../kernel/ports.ts';
import type { CallContext, McpTaskState } from '../../../mcp/callContext.ts';
import { anyJson } from '../../../mcp/jsonSchema.ts';
import { listUpTo, optionalList, reading, textUpTo, wholeNumber, writing } from '../../../mcp/tool.ts';
import {
  budgetReason,
  CODING_AGENT,
  type CodingTask,
  FAILURE_CLASSES,
  filesShape,
  HEARINGS,
  isClosed,
  messagesShape,
  PROGRAM_NAME,
  pendingQuestionOf,
  programCapability,
  RUNS_COMMANDS,
  TOOL_NAME,
  text,
  texts,
} from '../../coordination/index.ts';
import type { CodingServices } from '../create.ts';
import { LOG_LEVELS, LOG_TYPES } from '../rules/log.ts';
import type { Appended, Heartbeat, RunnerClaimed } from '../rules/runners.ts';
import type { EndedTask } from '../rules/task.ts';
import * as shapes from './codingResponses.ts';

const program = z
  .string()
  .refine((name) => PROGRAM_NAME.test(name), 'expected 2 to 32 lower-case letters, digits and underscores')
  .describe('Program, such as claude or codex. Tasks for my_agent have the tool MY_AGENT');

/** Maximum number of programs of a runner. */
const MAX_PROGRAMS = 20;

export const registerRunner = shapes.defineTool({
  name: 'register_runner',
  title: 'Register a runner',
  description: 'For runners: registers the coding agents installed on your machine.',
  details:
    'Stores the tools and their versions as your capabilities, replacing the old ones. Returns your identity. Each runner needs its own agent credential.',
  input: z.strictObject({
    programs: listUpTo(
      MAX_PROGRAMS,
      z.strictObject({ name: program, version: text('Reported version', 100) }),
      'programs',
    )
      .min(1)
      .describe('Coding agents that you can start'),
    serves: z
      .enum(['owner', 'workspace'])
      .default('owner')
      .describe('Tasks to claim: those of your owner, or of all workers here. You run the prompts in these tasks'),
    commands: z.boolean().optional().describe('Whether you run commands that check the work of others'),
  }),
  output: shapes.responseShape(z.object({ agentId: z.string(), workspace: z.string(), owner: z.string() })),
  ...writing('worker', { destructiveHint: false, idempotentHint: true }),
  example: { programs: [{ name: 'claude', version: '2.1.197' }] },
  response: (runner: { agentId: string; workspace: string; owner: string }) =>
    shapes.success(`Registered as runner ${runner.agentId}.`, runner),
  handler: async ({ services, workspace, principal, recordResponse }, { programs, serves, commands = false }) => {
    const { agent_id } = principal;
    if (agent_id === undefined)
      throw new MusterError('FORBIDDEN', 'Only agents can be runners; you are a person.', {
        suggestion: 'Register an agent with onboarding.registerAgent, and use its credential.',
      });
    const owner = await services.coding.nameOf(principal.owner_uid);
    const runner = { agentId: agent_id, workspace, owner };
    const category = CODING_AGENT;
    const capabilities = [
      ...programs.map(({ name, version }) => ({ name: programCapability(name), category, parameters: { version } })),
      ...(commands ? [{ name: RUNS_COMMANDS, category }] : []),
    ];
    await services.membership.join(principal, { ...runner, role: 'worker', capabilities, serves }, () =>
      recordResponse(runner),
    );
    return runner;
  },
});

const claimedShape = shapes.taskShape
  .pick({
    id: true,
    tool: true,
    description: true,
    instructions: true,
    branch: true,
    config: true,
    project: true,
    attempt: true,
    acceptance: true,
    command: true,
  })
  .extend({
    epoch: z.number(),
    leaseUntil: z.iso.datetime(),
    commit: z.string().optional().describe('Commit to check, for a command run.'),
    previous: shapes.previousShape.optional(),
    traceparent: z.string().optional(),
  });

/** Default lease length in seconds. Source: docs/guides/runner.md. */
const DEFAULT_LEASE_SECONDS = 120;

/** Maximum time of a long poll, in milliseconds. */
const MAX_WAIT_MS = 25_000;

/** Arguments with which a runner receives and confirms messages for a task. */
const receipt = {
  receivedUntil: idOf('a message').optional().describe('Last message received for the task; returns only later ones'),
  heard: listUpTo(50, idOf('a message')).optional().describe('Messages that the coding agent acknowledged'),
};

const standingShape = {
  leaseUntil: z.iso.datetime().optional().describe('Absent if you must stop.'),
  stop: shapes.stopShape,
  messages: messagesShape.describe('Messages for the coding agent, returned again until you list them in heard.'),
};

export const claimTask = shapes.defineTool({
  name: 'claim_task',
  title: 'Claim a coding task',
  description: 'For runners: claims or waits for the next coding task that your tools can do, by priority, then age.',
  details:
    'The claim is a lease that only coding.append_logs and coding.heartbeat_task renew. Send its epoch with every report. The runner itself limits how many tasks it claims.',
  input: z.strictObject({
    agentId: idOf('an agent').optional().describe('Agent to claim for; default: yourself. Leaders may name another.'),
    tools: z
      .array(z.string().refine((name) => TOOL_NAME.test(name), 'expected a coding tool such as "CLAUDECODE"'))
      .min(1)
      .max(MAX_PROGRAMS)
      .optional()
      .describe('Only tasks for these tools; default: those whose programs the agent registered'),
    project: text('Your repository, as owner/name or a label. Only its tasks, and tasks without a project', 80)
      .refine((name) => !name.includes('|'), 'expected no "|"')
      .optional(),
    taskId: shapes.taskId.optional().describe('Only this task'),
    waitMs: wholeNumber(0, MAX_WAIT_MS).default(0).describe('Milliseconds to wait for a task; 0: do not wait'),
    leaseSeconds: wholeNumber(15, 3600)
      .describe('Lease length in seconds; heartbeats renew it')
      .default(DEFAULT_LEASE_SECONDS),
    readUntil: idOf('a message').optional().describe('For older runners: last message you delivered'),
  }),
  output: shapes.responseShape(
    z.object({ task: claimedShape.nullable(), files_shared: filesShape, messages: standingShape.messages }),
  ),
  returnsWhole: true,
  ...writing('worker', { destructiveHint: false, idempotentHint: false }),
  notifies: true,
  example: { agentId: 'terminal-2', tools: ['CLAUDECODE'], waitMs: 0 },
  response: ({ task, shared, messages }: RunnerClaimed) => {
    if (task?.claim === undefined) return shapes.success('No task to claim.', { task: null });
    const { coding, claim } = task;
    const previous = coding.attempts.at(-1);
    return shapes.success(`Task ${task.id} claimed.`, {
      task: {
        ...shapes.codingTaskResponse(task, claim.claimed_at),
        epoch: claim.claim_epoch,
        leaseUntil: claim.lease_expires_at,
        commit: task.reviews?.commit,
        previous: previous && shapes.pastAttemptResponse(task, previous),
        traceparent: task.traceparent,
      },
      files_shared: optionalList(shared),
      messages: optionalList(messages),
    });
  },
  handler: ({ services, workspace, principal, disconnectSignal, trackWait, recordResponse }, wishes) =>
    services.codingRunners.claim(principal, { workspace, ...wishes }, { disconnectSignal, trackWait }, recordResponse),
});

export const heartbeatTask = shapes.defineTool({
  name: 'heartbeat_task',
  title: 'Send a coding heartbeat',
  description: 'For runners: renews the lease of a task you hold and may advance its state.',
  details:
    'in_progress: the coding agent works. waiting: the coding agent is done, but its session is still open. If the response contains `stop`, stop working.',
  input: z.strictObject({
    taskId: shapes.taskId,
    epoch: shapes.epoch,
    state: z.enum(['in_progress', 'waiting']).optional().describe('New state'),
    progress: text('Current work, in a few words', 500).optional(),
    hearing: z
      .enum(HEARINGS)
      .optional()
      .describe('When your coding agent hears a message: with its next model request, or after its turn'),
    files: texts('Files that the branch has changed so far, if the list is new', 1000).optional(),
    ...receipt,
    // Without a default, because an idempotency key of the last release stores a digest of the arguments.
    waitMs: wholeNumber(0, MAX_WAIT_MS).optional().describe('Milliseconds to wait for a message or stop; default: 0'),
  }),
  output: shapes.responseShape(z.object(standingShape)),
  ...writing('worker', { destructiveHint: false, idempotentHint: true }),
  routine: true,
  notifies: 'waitMs',
  example: { taskId: 'task-000abc-001', epoch: 1, progress: 'Running the tests' },
  response: (beat: Heartbeat) =>
    shapes.success(beat.stop?.message ?? 'Lease renewed.', { ...beat, messages: optionalList(beat.messages) }),
  handler: (context, beat) => {
    const { services, workspace, principal, recordResponse } = context;
    return services.codingRunners.heartbeat(principal, { workspace, ...beat }, context, recordResponse);
  },
});

export const reportTask = shapes.defineTool({
  name: 'report_task',
  title: 'Get a coding task',
  view: 'coding',
  description: "Returns a coding task's state, attempts, latest log lines, commits, files and cost.",
  details:
    "Also returns why attempts failed, and the result's commands and tokens. `until` waits up to 45 seconds. If your client supports MCP tasks, the call then becomes a task until the coding task has ended.",
  rare: ['until'],
  input: z.strictObject({ taskId: shapes.taskId, until: z.enum(['end']).optional().describe('Wait for the end') }),
  output: shapes.responseShape(shapes.reportShape),
  ...reading,
  returnsWhole: true,
  notifies: 'until',
  example: { taskId: 'task-000abc-001' },
  text: ({ result }) => shapes.reportText(result),
  task: {
    ids: /^task-[\w-]{1,95}$/,
    state: async (context, id) =>
      taskStateOf(context, await context.services.coding.findVisible(context.principal, id)),
    response: async (context, id) => {
      const { workspace } = await context.services.coding.findVisible(context.principal, id);
      return reportOf(context, workspace, id);
    },
  },
  handler: async (context, { taskId: id, until }) => {
    const { services, workspace, respondWithTask, disconnectSignal, trackWait } = context;
    if (until === 'end') {
      const { task } = await services.coding.find(workspace, id);
      const longest = Math.floor(Math.min(MAX_REPORT_WAIT_MS, context.timeLeft() - RESPONSE_MARGIN_MS));
      if (isClosed(task.status) || longest <= 0) return reportOf(context, workspace, id);
      if (respondWithTask !== undefined) respondWithTask(taskStateOf(context, task));
      else {
        const end = AbortSignal.any([disconnectSignal(), AbortSignal.timeout(longest)]);
        await trackWait(services.coding.ended(workspace, id, end));
      }
    }
    return reportOf(context, workspace, id);
  },
});

const MAX_REPORT_WAIT_MS = 45_000;
const RESPONSE_MARGIN_MS = 5000;
const TASK_POLL_MS = 10_000;

async function reportOf({ services }: CallContext<CodingServices>, workspace: string, id: string) {
  const { task, now, log } = await services.coding.findWithLog(workspace, id);
  const answer = shapes.codingTaskResponse(task, now);
  return shapes.success(`Task ${task.id} is ${answer.status}.`, {
    task: answer,
    ...shapes.historyResponse(task, log),
    result: task.coding.result && JSON.parse(await services.coding.result(task)),
  });
}

/** Returns the state of a coding task that MCP shows as a task. */
function taskStateOf({ directory }: CallContext<CodingServices>, task: CodingTask): McpTaskState {
  const { id, workspace, status, created_at, completed_at, claim, budget_wait } = task;
  const renewedAt = claim && new Date(claim.lease_expires_at.getTime() - claim.lease_seconds * SECOND_MS);
  const budget = budgetReason(task) === undefined ? undefined : budget_wait;
  const question = pendingQuestionOf(task);
  const waitsFor = budget === undefined ? undefined : { budget };
  const failure = { class: 'cancelled', message: 'Cancelled by the caller.' };
  return {
    id,
    status: status === 'cancelled' ? status : isClosed(status) ? 'ended' : 'working',
    message: isClosed(status) ? undefined : directory.named(shapes.progressText(task)),
    createdAt: created_at,
    changedAt: completed_at ?? renewedAt ?? created_at,
    kept: 'tasks',
    pollMs: TASK_POLL_MS,
    waitsFor: question === undefined ? waitsFor : { request: question.request_id },
    cancel: { tool: 'coding.end_task', args: { workspace, taskId: id, status: 'failed', failure } },
  };
}

const entry = z.strictObject({
  sequence: z
    .number()
    .refine((value) => Number.isSafeInteger(value) && value >= 0, 'expected a whole number from 0')
    .describe('Increases with each entry of the attempt; an entry sent twice is appended once'),
  at: z.iso.datetime({ offset: true }).describe('Event time'),
  level: z.enum(LOG_LEVELS).describe('Severity'),
  type: z.enum(LOG_TYPES).describe('Kind of source'),
  prefix: textUpTo(100).optional().describe('Source, such as a tool or program'),
  message: textUpTo(16_000).describe('One or more lines, without NUL characters'),
  data: anyJson.optional().describe('More data, at most 16 KiB of JSON'),
});

export const appendLogs = shapes.defineTool({
  name: 'append_logs',
  title: 'Append to a coding log',
  description: 'For runners: appends to the log of a task you hold and renews its lease.',
  details:
    'Send each entry once. The first call sets the state in_progress. If the response contains `stop`, stop working. The remaining log is still accepted if the task was ended, but not if the claim was lost.',
  input: z.strictObject({
    taskId: shapes.taskId,
    epoch: shapes.epoch,
    entries: listUpTo(500, entry).describe('Ordered by sequence; at most 500 entries and 256 KiB of JSON'),
    ...receipt,
  }),
  output: shapes.responseShape(
    z.object({
      accepted: z.number().describe('Number of new entries.'),
      cursor: z.string().describe('Cursor with which coding.get_task_logs continues after these entries.'),
      ...standingShape,
    }),
  ),
  ...writing('worker', { destructiveHint: false, idempotentHint: true }),
  example: {
    taskId: 'task-000abc-001',
    epoch: 1,
    entries: [{ sequence: 0, at: '2026-11-22T10:00:00Z', level: 'info', type: 'agent', message: 'Reading src/app.ts' }],
  },
  response: ({ accepted, next, ...standing }: Appended, { entries }) => {
    const all = entries.map(({ data }) => data);
    const message = standing.stop?.message ?? `${accepted} entries appended.`;
    const answer = { accepted, cursor: String(next), ...standing, messages: optionalList(standing.messages) };
    return shapes.success(message + shapes.asText('The data of an entry', all), answer);
  },
  handler: ({ services, workspace, principal, recordResponse }, { entries, ...claim }) => {
    const numbered = entries.map((one) => ({ ...one, at: new Date(one.at) }));
    return services.codingRunners.append(principal, { workspace, ...claim, entries: numbered }, recordResponse);
  },
});

const MESSAGES: Readonly<Record<EndedTask['outcome'], string>> = {
  ended: 'Task ended.',
  retried: 'Task failed; it is available for another attempt.',
  returned: 'Task returned; it is available again, and the attempt does not count.',
  repeated: 'The task had already ended with this outcome.',
  kept: 'The task had already been ended; your result was added.',
  late: 'Another runner has claimed the task; your report was stored as its late result.',
  verifying: 'The result is stored; the task is done when it is proven.',
  sent_back: 'The result was sent back; the task is available, to be corrected.',
};

/** One week, because the limits of subscriptions last that long. */
const MAX_RETURN_SECONDS = 7 * 24 * 60 * 60;

export const endTask = shapes.defineTool({
  name: 'end_task',
  title: 'End a coding task',
  description:
    'Completes, fails or stops a coding task. Its creator and leaders may end it at any time; the runner then stops.',
  details:
    "Its runner reports the outcome with its epoch. Its creator and leaders may end it at any time; the runner stops at its next heartbeat. A retryable failure class makes the task available for another attempt, at most 3 in total. A runner that cannot work now, or not on this task yet, returns it with failure.returnAfterSeconds. The result is any JSON up to 1 MiB. A runner's result contains summary, commits, diffstat, files, diff, commands, tools, turns, tokens, costUsd, exit, durationMs, acceptance, pullRequest, base, branch and head.",
  rare: ['epoch', 'failure'],
  input: z.strictObject({
    taskId: shapes.taskId,
    status: z.enum(['completed', 'failed']).describe('Final status'),
    result: anyJson.optional().describe('Result'),
    epoch: shapes.epoch.optional(),
    failure: z
      .strictObject({
        class: z.enum(FAILURE_CLASSES).describe('Decides whether it is retried'),
        message: text('Readable reason', 5000),
        retryable: z.boolean().optional().describe('false: do not retry'),
        returnAfterSeconds: wholeNumber(0, MAX_RETURN_SECONDS)
          .optional()
          .describe('Returns the task. It becomes available after this time; the attempt does not count'),
      })
      .optional()
      .describe('Reason'),
  }),
  output: shapes.responseShape(
    z.object({
      task: shapes.taskShape,
      outcome: z
        .enum(['ended', 'retried', 'returned', 'repeated', 'kept', 'late', 'verifying', 'sent_back'])
        .describe(
          'ended: the task is closed. retried: it is available for another attempt. returned: it is available again, and the attempt does not count. repeated: you had already reported this. kept: the task had already been ended, and your result was added. late: another runner has claimed it; your report was stored as its late result. verifying: the result is handed in, and the task is done when it is proven. sent_back: the task is available again, to be corrected.',
        ),
    }),
  ),
  ...writing('worker', { destructiveHint: true, idempotentHint: true }),
  example: {
    taskId: 'task-000abc-001',
    status: 'completed',
    result: { summary: 'Implemented login and logout with JWT.' },
  },
  response: ({ task, now, outcome }: EndedTask, { result }) =>
    shapes.success(MESSAGES[outcome] + shapes.asText('The result', [result]), {
      task: shapes.codingTaskResponse(task, now),
      outcome,
    }),
  handler: ({ services, workspace, principal, recordResponse }, report) =>
    services.codingChanges.end(principal, { workspace, ...report }, recordResponse),
});
