/** Arguments and responses that coding tools share. Source: the coding specification, "Tool Response Format". */
import { z } from 'zod';
import { idOf } from '../../../kernel/ids.ts';
import { isWrappedJson } from '../../../kernel/json.ts';
import { columnLines, quotedLines, terminalLines, terminalText } from '../../../kernel/text.ts';
import { claimNumber, type Given, guidance, toolsFor } from '../../../mcp/tool.ts';
import {
  type CodingTask,
  FAILURE_CLASSES,
  isHeld,
  type PastAttempt,
  pendingQuestionOf,
  proofResponse,
  proofShape,
  stuckReason,
  TASK_STATUSES,
  verifyingResponse,
  waitText,
} from '../../coordination/index.ts';
import type { CodingServices } from '../create.ts';
import { LOG_LEVELS, LOG_TYPES, type LogLine } from '../rules/log.ts';
import { CODING_STATUSES, codingStatus } from '../rules/task.ts';

export const defineTool = toolsFor<CodingServices>();
export const taskId = idOf('a task').describe('Task ID');
export const epoch = claimNumber.describe('Claim epoch, for runners');

/** Schema of every response, which contains a status, a message and a result. */
export const responseShape = <Result extends z.ZodType>(result: Result) =>
  z.object({ status: z.literal('success'), message: z.string(), result });

export function success<Result>(message: string, result: Result) {
  return { status: 'success' as const, message, result };
}

/** Returns a hint for the response's message if a value is an object or list that was sent as text. */
export function asText(what: string, values: readonly unknown[]): string {
  if (!values.some(isWrappedJson)) return '';
  return ` ${what} was stored as text. To store an object or a list, send it directly, not as JSON text.`;
}

/** Tool that responses show for command runs. The stored tool is one that the last release can read. */
const COMMAND = 'COMMAND';
const time = z.iso.datetime();

const failureShape = z.object({
  class: z.enum(FAILURE_CLASSES).describe('Machine-readable reason.'),
  message: z.string().describe('Human-readable reason.'),
});

export const taskShape = z.object({
  id: z.string(),
  tool: z.string(),
  description: z.string(),
  instructions: z.string(),
  branch: z.string(),
  config: z.record(z.string(), z.unknown()),
  project: z.string().optional().describe('Repository: owner/name, or a label that its runner uses.'),
  status: z.enum(CODING_STATUSES),
  state: z.enum(TASK_STATUSES).describe('Stored status, which is more detailed.'),
  priority: z.number().describe('1 (first) to 10 (last).'),
  createdAt: time,
  createdBy: z.string(),
  queueEndsAt: time.optional().describe('Time at which the task fails if no runner claims it.'),
  retryAt: time.optional().describe('Time from which the task can be claimed for another attempt.'),
  attempt: z.number().describe('Number of claims that did not return the task.'),
  runner: z.string().optional().describe('Agent that holds or closed the task.'),
  epoch: z.number().optional().describe('Claim epoch.'),
  claimedAt: time.optional(),
  leaseUntil: time.optional(),
  startedAt: time.optional(),
  completedAt: time.optional(),
  durationMs: z.number().optional().describe('Milliseconds from the claim to the end, or to now if the task is open.'),
  waitingFor: z.string().optional().describe('Person whose answer the task waits for.'),
  progress: z.string().optional().describe('Latest progress that its runner reported.'),
  summary: z.string().optional().describe('Summary of the result.'),
  error: z.string().optional(),
  failure: failureShape.optional(),
  stuck: guidance().optional().describe('Why the task can never start.'),
  command: z.string().optional().describe('Command that its runner runs for another task.'),
  ...proofShape,
  waits: z.string().optional().describe('Budget or files that the task waits for.'),
});

/** Returns the task for a response. @param now for the duration of an open task */
export function codingTaskResponse(task: CodingTask, now: Date): Given<z.output<typeof taskShape>> {
  const { claim, coding, status, created_at, retry_at, completed_at: closedAt } = task;
  return {
    id: task.id,
    tool: coding.command === undefined ? coding.tool : COMMAND,
    description: task.description,
    instructions: coding.instructions,
    branch: coding.branch,
    config: coding.config,
    project: coding.project,
    status: codingStatus(status),
    state: status,
    priority: task.priority,
    createdAt: created_at,
    createdBy: task.created_by,
    queueEndsAt: status === 'available' ? coding.queue_ends_at : undefined,
    retryAt: retry_at,
    attempt: task.claim_epoch - coding.returns,
    runner: claim?.claimed_by,
    epoch: claim?.claim_epoch,
    claimedAt: claim?.claimed_at,
    leaseUntil: isHeld(status) ? claim?.lease_expires_at : undefined,
    startedAt: claim?.started_at,
    durationMs: claim && (closedAt ?? now).getTime() - claim.claimed_at.getTime(),
    completedAt: closedAt,
    waitingFor: pendingQuestionOf(task)?.who,
    progress: shown(coding.progress),
    summary: shown(task.result?.output),
    error: shown(task.error),
    failure: coding.failure && failureResponse(coding.failure),
    stuck: stuckReason(task),
    command: coding.command,
    ...proofResponse(task),
    waits: waitText(task),
  };
}

/** Returns what an open task is doing, or what it waits for. */
export function progressText(task: CodingTask): string {
  const { status, claim_epoch, coding } = task;
  const verifying = verifyingResponse(task);
  if (verifying !== undefined) return verifying.waits;
  const question = pendingQuestionOf(task);
  if (question !== undefined) return `Waiting for the answer of ${question.who}.`;
  if (status === 'available') return stuckReason(task) ?? waitText(task) ?? 'Waiting for a runner.';
  const attempt = `Attempt ${claim_epoch - coding.returns}`;
  return coding.progress === undefined ? `${attempt}.` : `${attempt}: ${terminalText(coding.progress)}`;
}

const shown = (text: string | undefined) => text && terminalText(text);

const failureResponse = ({ class: kind, message }: PastAttempt['failure']) => ({
  class: kind,
  message: terminalText(message),
});

export const previousShape = z.object({
  branch: z.string(),
  runner: z.string(),
  endedAt: time,
  failure: failureShape,
  comments: z.string().optional().describe('Correction with which the work was sent back.'),
  commits: z.array(z.object({ sha: z.string(), subject: z.string() })),
});

export function pastAttemptResponse({ coding, sent_back }: CodingTask, attempt: PastAttempt) {
  const correction = sent_back.find((one) => one.claim_epoch === attempt.claim_epoch);
  return {
    epoch: attempt.claim_epoch,
    branch: coding.branch,
    runner: attempt.agent_id,
    endedAt: attempt.ended_at,
    failure: failureResponse(attempt.failure),
    comments: correction?.comments,
    commits: attempt.commits.map(({ sha, subject }) => ({ sha, subject: terminalText(subject) })),
  };
}

export const stopShape = z
  .object({ reason: z.enum(['ended', 'claim_lost']), message: z.string() })
  .optional()
  .describe('Stop working on the task: it was ended, or the claim is no longer yours.');

export const logEntryShape = z.object({
  line: z.number().describe('Line number from 0, across all attempts.'),
  at: time,
  level: z.enum(LOG_LEVELS),
  type: z.enum(LOG_TYPES),
  prefix: z.string().optional(),
  message: z.string(),
  data: z.unknown().optional(),
});

/** Returns a log line for a response. The data that the runner sent with the line stays unchanged. */
export function logLineResponse(line: LogLine): Given<z.input<typeof logEntryShape>> {
  return { ...line, prefix: shown(line.prefix), message: terminalText(line.message) };
}

const LEVEL_WIDTH = 5;
const TYPE_WIDTH = 10;

/** Maximum number of characters of an entry's data that a line of text shows. */
const MAX_DATA_LENGTH = 1000;

/** Formats a log entry as text that starts with its time. All lines of an entry after the first are indented. */
export function logLineText({ at, level, type, prefix, message, data }: LogLine): string {
  const head = [at.toISOString(), level.toUpperCase().padEnd(LEVEL_WIDTH), type.padEnd(TYPE_WIDTH)].join(' ');
  const text = prefix === undefined ? message : `[${prefix}] ${message}`;
  const more = data === undefined ? '' : ` ${truncated(JSON.stringify(data))}`;
  return `${head} ${terminalText(text + more).replace(/\n/g, '\n    ')}`;
}

function truncated(text: string): string {
  return text.length > MAX_DATA_LENGTH ? `${text.slice(0, MAX_DATA_LENGTH)}…` : text;
}

export function linesText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

/** Returns the failed attempts of a task, and the given lines of its log. */
export function historyResponse(task: CodingTask, { lines, total }: { lines: readonly LogLine[]; total: number }) {
  return {
    attempts: task.coding.attempts.map((attempt) => pastAttemptResponse(task, attempt)),
    logs: { lines: total, latest: lines.map(logLineResponse) },
  };
}

type Report = z.output<typeof reportShape>;

/** Fields that `reportText` prints in their own places, and not in the general list. */
const SHOWN_FIELDS = new Set([
  ...['id', 'status', 'state', 'description', 'instructions', 'config', 'failure'],
  ...['acceptance', 'verifying', 'sent_back', 'proven', 'reviews'],
]);

export function reportText({ task, attempts, logs, result }: Report): string {
  const { id, status, state, description, instructions, config, failure } = task;
  const rest = Object.entries(task).filter(([name, value]) => !SHOWN_FIELDS.has(name) && value !== undefined);
  return terminalLines([
    `Coding task ${id}: ${status}${state === status ? '' : ` (${state})`}`,
    ...quotedLines(description),
    ...columnLines(rest.map(([name, value]) => [`${name}:`, String(value)])),
    ...(task.verifying ? [`Being verified: ${task.verifying.waits}`] : []),
    ...titled('Sent back:', (task.sent_back ?? []).flatMap(correctionLines)),
    ...titled('Proven:', columnLines((task.proven ?? []).map(({ step, by, at }) => [`${step}:`, `${by}, ${at}`]))),
    ...(failure ? [`Failure: ${failure.class}`, ...quotedLines(failure.message)] : []),
    ...titled('Previous attempts:', attempts.flatMap(attemptLines)),
    ...titled(`Log, ${logs.latest.length} of ${logs.lines} lines:`, logs.latest.flatMap(logLines)),
    ...(result === undefined ? [] : ['Result:', ...quotedLines(JSON.stringify(result, withoutDiff, 2))]),
    ...(Object.keys(config).length === 0 ? [] : ['Configuration:', ...quotedLines(JSON.stringify(config))]),
    'Instructions:',
    ...quotedLines(instructions),
  ]);
}

/** Omits a runner's diff from the printed result, because it can have 64 KB. The structured content contains it. */
function withoutDiff(name: string, value: unknown): unknown {
  return name === 'diff' && typeof value === 'string' ? `${value.length} characters` : value;
}

const titled = (title: string, lines: readonly string[]) => (lines.length === 0 ? [] : [title, ...lines]);

function correctionLines({ by, at, comments }: NonNullable<Report['task']['sent_back']>[number]) {
  return [`  by ${by}, ${at}`, ...quotedLines(comments)];
}

function attemptLines({ epoch, runner, branch, endedAt, failure, commits }: Report['attempts'][number]) {
  return [
    `  ${epoch}: ${failure.class}, by ${runner} on ${branch}, ended ${endedAt}`,
    ...quotedLines(failure.message),
    ...columnLines(commits.map(({ sha, subject }) => [`commit ${sha}`, subject])),
  ];
}

function logLines({ line, at, level, type, prefix, message, data }: Report['logs']['latest'][number]) {
  const text = prefix === undefined ? message : `[${prefix}] ${message}`;
  const more = data === undefined ? '' : ` ${JSON.stringify(data)}`;
  return [`  ${line}  ${at}  ${level}  ${type}`, ...quotedLines(`${text}${more}`)];
}

/** Result of report_task. The resource `task://{taskId}` has the same fields except the task's result. */
export const reportShape = z.object({
  task: taskShape,
  attempts: z.array(previousShape.extend({ epoch: z.number() })).describe('Failed attempts.'),
  logs: z.object({
    lines: z.number().describe('Number of lines so far, including dropped ones.'),
    latest: z.array(logEntryShape),
  }),
  result: z.unknown().optional().describe('Result, as sent to coding.end_task.'),
});
