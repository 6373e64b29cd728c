/** Resources of coding tasks. Source: the coding specification, "Resources". */
import { z } from 'zod';
import { fittingItems } from '../../kernel/json.ts';
import { DAY_MS } from '../../kernel/ports.ts';
import { terminalText } from '../../kernel/text.ts';
import type { CallContext } from '../../mcp/callContext.ts';
import { type Resource, type ResourceTemplate, templatesFor, type VariableCompletion } from '../../mcp/resource.ts';
import { type CodingTask, isHeld } from '../coordination/index.ts';
import type { CodingServices } from './create.ts';
import { LOG_TYPES } from './rules/log.ts';
import type { CodingFilter } from './rules/ports.ts';
import { CODING_STATUSES, codingStatus, projectName } from './rules/task.ts';
import {
  codingTaskResponse,
  historyResponse,
  linesText,
  logLineText,
  pastAttemptResponse,
  taskId,
} from './tools/codingResponses.ts';

/** Size limits of a resource, because callers cannot set a limit. The response reports whether there is more. */
const MAX_TASKS = 100;
const MAX_LINES = 5000;
const MAX_LOG_BYTES = 36_000;
const MAX_LINES_OF_DAY = 1000;
const asJson = { mimeType: 'application/json', role: 'viewer' } as const;
const asText = { mimeType: 'text/plain', role: 'viewer' } as const;
const json = (value: unknown): string => JSON.stringify(value, null, 2);

/** Returns the latest coding tasks without their instructions and configuration. */
async function listed({ services, workspace }: CallContext<CodingServices>, filter: CodingFilter) {
  const { items, more } = await services.coding.list(workspace, filter, MAX_TASKS);
  const now = services.coding.now();
  const tasks = items.map((task) => {
    const { instructions: _, config: __, ...rest } = codingTaskResponse(task, now);
    return rest;
  });
  const given = fittingItems(tasks, (task) => task);
  return { tasks: given, truncated: more || given.length < tasks.length };
}

const defineResourceTemplate = templatesFor<CodingServices>();

const taskList: Resource<CodingServices> = {
  uri: 'task://list',
  name: 'task-list',
  title: 'Coding tasks',
  description: `The latest ${MAX_TASKS} coding tasks, newest first, without their instructions.`,
  ...asJson,
  read: async (context) => json(await listed(context, {})),
};

export const resources: readonly Resource<CodingServices>[] = [
  {
    uri: 'agent://status',
    name: 'agent-status',
    title: 'Agent status',
    description: 'Numbers of waiting and active coding tasks, the coding tools, and the runners that have each tool.',
    ...asJson,
    read: async ({ services, workspace }) => json({ workspace, ...(await services.coding.overview(workspace)) }),
  },
  taskList,
  {
    ...taskList,
    uri: 'agent://tasks',
    name: 'agent-tasks',
    title: "Agents' tasks",
    description: 'Alias of task://list.',
  },
];

const sessionTypes = ['coding', 'coordination'] as const;

interface SessionName {
  readonly sessionType: (typeof sessionTypes)[number];
  readonly sessionId: string;
}

const SESSION_IDS = {
  coding: /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}\.[1-9]\d{0,8}$/,
  coordination: /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/,
} as const;

async function runnerSession(
  { services, workspace }: CallContext<CodingServices>,
  { sessionType, sessionId }: SessionName,
) {
  const dot = sessionId.lastIndexOf('.');
  const epoch = Number(sessionId.slice(dot + 1));
  const { task, past } = await services.coding.runnerSession(workspace, sessionId.slice(0, dot), epoch);
  const { id: taskId, status, claim, coding } = task;
  const named = { sessionType, sessionId, taskId, tool: coding.tool, branch: coding.branch };
  if (past !== undefined || claim === undefined)
    return { ...named, isAlive: false, ...(past && pastAttemptResponse(task, past)) };
  const isAlive = isHeld(status);
  return {
    ...named,
    isAlive,
    status: codingStatus(status),
    state: status,
    runner: claim.claimed_by,
    epoch,
    claimedAt: claim.claimed_at,
    startedAt: claim.started_at,
    endedAt: task.completed_at,
    leaseUntil: isAlive ? claim.lease_expires_at : undefined,
    progress: coding.progress === undefined ? undefined : terminalText(coding.progress),
  };
}

async function coordinationSession({ services, workspace }: CallContext<CodingServices>, name: SessionName) {
  const found = await services.coding.coordinationSession(workspace, name.sessionId);
  const { goal, master_plan, created_at } = found.session;
  const { counts, lastActivity } = found.counters;
  return {
    ...name,
    workspace,
    isOpen: found.isOpen,
    goal,
    masterPlan: master_plan,
    createdAt: created_at,
    counts,
    lastActivity,
  };
}

/** Completes a variable of a resource's address with names from the workspace's latest coding tasks. */
const namesOf =
  (names: (task: CodingTask) => readonly string[]): VariableCompletion<CodingServices> =>
  async ({ services, workspace }) =>
    (await services.coding.list(workspace, {}, MAX_TASKS)).items.flatMap(names);

export const branchNames = namesOf(({ coding }) => [coding.branch]);

const runnerSessions = namesOf(({ id, claim, coding }) =>
  [...(claim ? [claim] : []), ...coding.attempts].map(({ claim_epoch: epoch }) => `${id}.${epoch}`),
);

const sessionIds: VariableCompletion<CodingServices> = async (context, chosen) => {
  const { services, workspace } = context;
  const { sessionType } = chosen;
  const coding = sessionType === 'coordination' ? [] : await runnerSessions(context, chosen);
  const open = sessionType === 'coding' ? undefined : await services.coding.openSessionId(workspace);
  return open === undefined ? coding : [...coding, open];
};

const DAYS = 14;

const days: VariableCompletion<CodingServices> = async ({ services }) => {
  const now = services.coding.now().getTime();
  return Array.from({ length: DAYS }, (_, ago) => new Date(now - ago * DAY_MS).toISOString().slice(0, 10));
};

const ofTask = { variables: z.strictObject({ taskId }), complete: { taskId: namesOf(({ id }) => [id]) } };

const watch = (
  { services, workspace, disconnectSignal }: CallContext<CodingServices>,
  { taskId }: { taskId: string },
) => services.coding.watch(workspace, taskId, disconnectSignal());

export const templates: readonly ResourceTemplate<CodingServices>[] = [
  defineResourceTemplate({
    uriTemplate: 'task://{taskId}',
    name: 'task',
    title: 'Coding task',
    description:
      'A task with its state, attempts, duration and latest log lines. To follow it while it runs, use subscriptions/listen.',
    ...asJson,
    ...ofTask,
    watch,
    read: async ({ services, workspace }, { taskId }) => {
      const { task, now, log } = await services.coding.findWithLog(workspace, taskId);
      const hasResult = task.coding.result !== undefined;
      return json({ ...codingTaskResponse(task, now), ...historyResponse(task, log), hasResult });
    },
  }),
  defineResourceTemplate({
    uriTemplate: 'task://{taskId}/logs',
    name: 'task-logs',
    title: "A coding task's log",
    description: "The latest part of a task's log, as plain text. coding.get_task_logs returns the whole log.",
    ...asText,
    ...ofTask,
    watch,
    read: async ({ services, workspace, directory }, { taskId }) => {
      const { log } = await services.coding.findWithLog(workspace, taskId, MAX_LINES, MAX_LOG_BYTES);
      const left = log.total - log.lines.length;
      const omitted = `(${left} earlier lines omitted: coding.get_task_logs returns the whole log of task ${taskId})`;
      return linesText([...(left > 0 ? [directory.named(omitted)] : []), ...log.lines.map(logLineText)]);
    },
  }),
  defineResourceTemplate({
    uriTemplate: 'task://{taskId}/result',
    name: 'task-result',
    title: "A coding task's result",
    description: "A task's result, as sent to coding.end_task.",
    returnsWhole: true,
    ...asJson,
    ...ofTask,
    read: async ({ services: { coding }, workspace }, { taskId }) =>
      coding.result((await coding.find(workspace, taskId)).task),
  }),
  defineResourceTemplate({
    uriTemplate: 'session://{sessionType}/{sessionId}',
    name: 'session',
    title: 'Session',
    description:
      "A session. Type coding: a runner's work on one task; the id is the task's id, a dot and the claim epoch. Type coordination: a session of the workspace.",
    ...asJson,
    variables: z
      .strictObject({ sessionType: z.enum(sessionTypes), sessionId: z.string() })
      .refine(({ sessionType, sessionId }) => SESSION_IDS[sessionType].test(sessionId)),
    complete: { sessionType: async () => sessionTypes, sessionId: sessionIds },
    read: async (context, name) =>
      json(await (name.sessionType === 'coding' ? runnerSession : coordinationSession)(context, name)),
  }),
  defineResourceTemplate({
    uriTemplate: 'branch://{branchName}/tasks',
    name: 'branch-tasks',
    title: 'Tasks on a branch',
    description: `The latest ${MAX_TASKS} coding tasks on a branch. Slashes in its name can be encoded as %2F.`,
    ...asJson,
    variables: z.strictObject({ branchName: z.string().min(1).max(250) }),
    slashes: true,
    complete: { branchName: branchNames },
    read: async (context, { branchName: branch }) => json({ branch, ...(await listed(context, { branch })) }),
  }),
  defineResourceTemplate({
    uriTemplate: 'project://{projectPath}/status',
    name: 'project-status',
    title: 'Status of a project',
    description: `The latest ${MAX_TASKS} coding tasks of a repository (owner/name, or the label of its runners), and the number of these tasks per status. The slash can be encoded as %2F.`,
    ...asJson,
    variables: z.strictObject({ projectPath: projectName }),
    slashes: true,
    complete: { projectPath: namesOf(({ coding: { project } }) => (project === undefined ? [] : [project])) },
    read: async (context, { projectPath: project }) => {
      const { tasks, truncated } = await listed(context, { project });
      const counts = Object.fromEntries(
        CODING_STATUSES.map((word) => [word, tasks.filter(({ status }) => status === word).length]),
      );
      return json({ project, counts, tasks, truncated });
    },
  }),
  defineResourceTemplate({
    uriTemplate: 'log://{logType}/{date}',
    name: 'historical-logs',
    title: 'Historical logs',
    description: `Log lines of one type on one day (in UTC), from all coding tasks, as plain text. If the day has more, only about ${MAX_LINES_OF_DAY} of the latest are shown. Types: ${LOG_TYPES.join(', ')}. Example of a date: 2026-11-22.`,
    ...asText,
    variables: z.strictObject({ logType: z.enum(LOG_TYPES), date: z.iso.date() }),
    complete: { logType: async () => LOG_TYPES, date: days },
    read: async ({ services, workspace }, { logType, date }) => {
      const { lines, more } = await services.coding.logsOfDay(workspace, logType, date, MAX_LINES_OF_DAY);
      const shown = lines
        .toSorted((a, b) => a.at.getTime() - b.at.getTime() || a.line - b.line)
        .slice(-MAX_LINES_OF_DAY);
      const isCut = more || lines.length > shown.length;
      return linesText([
        ...(isCut ? ['(Earlier lines omitted.)'] : []),
        ...shown.map((line) => `${line.taskId} ${logLineText(line)}`),
      ]);
    },
  }),
];
