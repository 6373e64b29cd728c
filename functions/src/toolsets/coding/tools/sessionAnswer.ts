/** What `session://{sessionType}/{sessionId}` shows. */
import { terminalText } from '../../../kernel/text.ts';
import type { CallContext } from '../../../mcp/callContext.ts';
import type { Completion } from '../../../mcp/resource.ts';
import { type CodingTask, isHeld } from '../../coordination/index.ts';
import { LOG_TYPES, type LogLine } from '../rules/log.ts';
import { codingStatus } from '../rules/task.ts';
import { pastAttemptAnswer } from './answers.ts';

interface SessionName {
  readonly sessionType: 'coding' | 'coordination';
  readonly sessionId: string;
}

/** @throws MusterError NOT_FOUND */
export function sessionAnswer(
  context: CallContext,
  { sessionType, sessionId }: SessionName,
): Promise<object> {
  return sessionType === 'coding'
    ? runnerSession(context, sessionId)
    : coordinationSession(context, sessionId);
}

async function runnerSession({ services, workspace }: CallContext, id: string): Promise<object> {
  const dot = id.lastIndexOf('.');
  const epoch = Number(id.slice(dot + 1));
  const { task, past } = await services.coding.runnerSession(workspace, id.slice(0, dot), epoch);
  const { claim, coding } = task;
  const named = {
    sessionType: 'coding',
    sessionId: id,
    taskId: task.id,
    tool: coding.tool,
    branch: coding.branch,
  };
  if (past !== undefined || claim === undefined) {
    return { ...named, isAlive: false, ...(past && pastAttemptAnswer(task, past)) };
  }
  return {
    ...named,
    isAlive: isHeld(task.status),
    status: codingStatus(task.status),
    state: task.status,
    runner: claim.agentId,
    epoch,
    claimedAt: claim.claimedAt,
    startedAt: claim.startedAt,
    endedAt: task.closedAt,
    leaseUntil: isHeld(task.status) ? claim.leaseExpiresAt : undefined,
    progress: coding.progress === undefined ? undefined : terminalText(coding.progress),
  };
}

async function coordinationSession({ services, workspace }: CallContext, id: string): Promise<object> {
  const { session, isOpen, counters } = await services.coding.coordinationSession(workspace, id);
  return {
    sessionType: 'coordination',
    sessionId: id,
    workspace,
    isOpen,
    goal: session.goal,
    masterPlan: session.masterPlan,
    createdAt: session.createdAt,
    counts: counters.counts,
    lastActivity: counters.lastActivity,
  };
}

// Logs as plain text: one line an entry, which begins with its time; what goes on is indented.

const LEVEL_WIDTH = 5;
const TYPE_WIDTH = 10;

/** How much of an entry's data is shown. */
const MAX_DATA_LENGTH = 1000;

export function textOf({ at, level, type, prefix, message, data }: LogLine): string {
  const head = [at.toISOString(), level.toUpperCase().padEnd(LEVEL_WIDTH), type.padEnd(TYPE_WIDTH)].join(' ');
  const said = prefix === undefined ? message : `[${prefix}] ${message}`;
  const more = data === undefined ? '' : ` ${shortened(JSON.stringify(data))}`;
  return `${head} ${terminalText(said + more).replace(/\n/g, '\n    ')}`;
}

function shortened(text: string): string {
  return text.length > MAX_DATA_LENGTH ? `${text.slice(0, MAX_DATA_LENGTH)}…` : text;
}

/** The last part of a log, with a word about what it lacks. */
export function tailText(lines: readonly LogLine[], total: number, taskId: string): string {
  const left = total - lines.length;
  const omitted =
    left > 0 ? [`(${left} lines before these: get_task_logs has task ${taskId}'s from the first)`] : [];
  return [...omitted, ...lines.map(textOf)].map((line) => `${line}\n`).join('');
}

// What completes the variables of coding's resources: names that the workspace's latest tasks have.

/** How many tasks are looked at for names. */
const MAX_TASKS = 100;

const DAYS = 14;
const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;

const ofTasks =
  (names: (task: CodingTask) => readonly string[]): Completion =>
  async ({ services, workspace }) => {
    const { items } = await services.coding.list(workspace, {}, MAX_TASKS);
    return items.flatMap(names);
  };

const ofList =
  (names: readonly string[]): Completion =>
  async () =>
    names;

export const taskIds = ofTasks(({ id }) => [id]);

export const branchNames = ofTasks(({ coding }) => [coding.branch]);

export const projectPaths = ofTasks(({ coding }) => (coding.project === undefined ? [] : [coding.project]));

export const logTypes = ofList(LOG_TYPES);

export const sessionTypes = ofList(['coding', 'coordination']);

const runnerSessions = ofTasks(({ id, claim, coding }) => [
  ...(claim ? [`${id}.${claim.epoch}`] : []),
  ...coding.attempts.map(({ epoch }) => `${id}.${epoch}`),
]);

export const sessionIds: Completion = async (context, chosen) => {
  const { sessionType } = chosen;
  const coding = sessionType === 'coordination' ? [] : await runnerSessions(context, chosen);
  const coordination = sessionType === 'coding' ? [] : await openSession(context);
  return [...coding, ...coordination];
};

async function openSession({ services, workspace }: CallContext): Promise<readonly string[]> {
  const open = await services.coding.openSessionId(workspace);
  return open === undefined ? [] : [open];
}

/** The latest days, today first. */
export const days: Completion = async ({ services }) => {
  const now = services.coding.now().getTime();
  return Array.from({ length: DAYS }, (_, ago) =>
    new Date(now - ago * DAY_MILLISECONDS).toISOString().slice(0, 10),
  );
};
