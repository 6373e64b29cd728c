/** The resources of spec/coding.md, "Resources". */

import { z } from 'zod';
import { fitting } from '../../kernel/json.ts';
import type { CallContext } from '../../mcp/callContext.ts';
import { defineResourceTemplate, type Resource, type ResourceTemplate } from '../../mcp/resource.ts';
import type { CodingTask } from '../coordination/index.ts';
import { LOG_TYPES } from './rules/log.ts';
import { isProject } from './rules/task.ts';
import { codingTaskAnswer, logLineAnswer, pastAttemptAnswer } from './tools/answers.ts';
import {
  branchNames,
  days,
  logTypes,
  projectPaths,
  sessionAnswer,
  sessionIds,
  sessionTypes,
  tailText,
  taskIds,
  textOf,
} from './tools/sessionAnswer.ts';
import { taskId } from './tools/shapes.ts';

/** A resource has no arguments, so it shows this many and says whether there are more. */
const MAX_TASKS = 100;
const MAX_LINES = 5000;
const MAX_LOG_BYTES = 256 * 1024;
const SHOWN_LINES = 50;
const SHOWN_LOG_BYTES = 64 * 1024;
const MAX_LINES_OF_DAY = 1000;

const JSON_TYPE = 'application/json';

function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

async function listed({ services, workspace }: CallContext, filter: { branch?: string; project?: string }) {
  const { items, more } = await services.coding.list(workspace, filter, MAX_TASKS);
  const tasks = items.map((task) => metadata(task, services.coding.now()));
  const given = fitting(tasks, (task) => task);
  return { tasks: given, truncated: more || given.length < tasks.length };
}

/** A task without what makes it long. */
function metadata(task: CodingTask, now: Date) {
  const { instructions: _, config: __, ...rest } = codingTaskAnswer(task, now);
  return rest;
}

async function taskList(context: CallContext): Promise<string> {
  return json(await listed(context, {}));
}

const status: Resource = {
  uri: 'agent://status',
  name: 'agent-status',
  title: 'Agent status',
  description:
    'How many coding tasks wait (for others to be done, or for a runner) and run, which tools there are, and which runners have them.',
  mimeType: JSON_TYPE,
  role: 'viewer',
  read: async ({ services, workspace }) => {
    const { pending, inProgress, tools } = await services.coding.overview(workspace);
    return json({ workspace, activeTasks: inProgress, pendingTasks: pending, tools });
  },
};

const list: Resource = {
  uri: 'task://list',
  name: 'task-list',
  title: 'Coding tasks',
  description: `The latest ${MAX_TASKS} coding tasks, newest first, without their instructions.`,
  mimeType: JSON_TYPE,
  role: 'viewer',
  read: taskList,
};

const agentTasks: Resource = {
  ...list,
  uri: 'agent://tasks',
  name: 'agent-tasks',
  title: "Agents' tasks",
  description: 'The same as task://list.',
};

export const resources: readonly Resource[] = [status, list, agentTasks];

const taskVariables = z.strictObject({ taskId });

const watchTask = ({ services, workspace, gone }: CallContext, { taskId }: { taskId: string }) =>
  services.coding.watch(workspace, taskId, gone());

const task = defineResourceTemplate({
  uriTemplate: 'task://{taskId}',
  name: 'task',
  title: 'Coding task',
  description:
    'All about a task: its state, its attempts, how long it has taken, and the latest lines of its log. Listen to it with subscriptions/listen while it runs.',
  mimeType: JSON_TYPE,
  role: 'viewer',
  variables: taskVariables,
  complete: { taskId: taskIds },
  read: async ({ services, workspace }, { taskId }) => {
    const [{ task: found, now }, tail] = await Promise.all([
      services.coding.find(workspace, taskId),
      services.coding.logTail(workspace, taskId, SHOWN_LINES, SHOWN_LOG_BYTES),
    ]);
    return json({
      ...codingTaskAnswer(found, now),
      attempts: found.coding.attempts.map((attempt) => pastAttemptAnswer(found, attempt)),
      logs: { lines: tail.total, latest: tail.lines.map(logLineAnswer) },
      hasResult: found.coding.result !== undefined,
    });
  },
  watch: watchTask,
});

const logs = defineResourceTemplate({
  uriTemplate: 'task://{taskId}/logs',
  name: 'task-logs',
  title: "A coding task's log",
  description:
    "The latest part of a task's log, about 256 KiB, as plain text. get_task_logs reads all of it.",
  mimeType: 'text/plain',
  role: 'viewer',
  variables: taskVariables,
  complete: { taskId: taskIds },
  read: async ({ services, workspace }, { taskId }) => {
    const { lines, total } = await services.coding.logTail(workspace, taskId, MAX_LINES, MAX_LOG_BYTES);
    return tailText(lines, total, taskId);
  },
  watch: watchTask,
});

const result = defineResourceTemplate({
  uriTemplate: 'task://{taskId}/result',
  name: 'task-result',
  title: "A coding task's result",
  description: 'What a task has brought, as it was given to end_task.',
  mimeType: JSON_TYPE,
  role: 'viewer',
  variables: taskVariables,
  complete: { taskId: taskIds },
  read: ({ services, workspace }, { taskId }) => services.coding.result(workspace, taskId),
});

const SESSION_IDS = {
  coding: /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}\.[1-9]\d{0,8}$/,
  coordination: /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/,
} as const;

const session = defineResourceTemplate({
  uriTemplate: 'session://{sessionType}/{sessionId}',
  name: 'session',
  title: 'Session',
  description:
    "A runner's session on a task (coding: the task's id, a dot and the epoch of the claim) or a coordination session (coordination: its id).",
  mimeType: JSON_TYPE,
  role: 'viewer',
  variables: z
    .strictObject({ sessionType: z.enum(['coding', 'coordination']), sessionId: z.string() })
    .refine(({ sessionType, sessionId }) => SESSION_IDS[sessionType].test(sessionId)),
  complete: { sessionType: sessionTypes, sessionId: sessionIds },
  read: async (context, variables) => json(await sessionAnswer(context, variables)),
});

const branch = defineResourceTemplate({
  uriTemplate: 'branch://{branchName}/tasks',
  name: 'branch-tasks',
  title: 'Tasks on a branch',
  description: `The latest ${MAX_TASKS} coding tasks on a branch. The slashes of its name may be written as %2F or as they are.`,
  mimeType: JSON_TYPE,
  role: 'viewer',
  variables: z.strictObject({ branchName: z.string().min(1).max(250) }),
  slashes: true,
  complete: { branchName: branchNames },
  read: async (context, { branchName }) =>
    json({ branch: branchName, ...(await listed(context, { branch: branchName })) }),
});

const project = defineResourceTemplate({
  uriTemplate: 'project://{projectPath}/status',
  name: 'project-status',
  title: 'Status of a project',
  description: `The latest ${MAX_TASKS} coding tasks of a repository (owner/name, or the label of its runners), and how many of them are in each status. The slash may be written as %2F or as it is.`,
  mimeType: JSON_TYPE,
  role: 'viewer',
  variables: z.strictObject({ projectPath: z.string().refine(isProject) }),
  slashes: true,
  complete: { projectPath: projectPaths },
  read: async (context, { projectPath }) => {
    const { tasks, truncated } = await listed(context, { project: projectPath });
    const count = (wanted: string): number => tasks.filter(({ status: word }) => word === wanted).length;
    const counts = {
      pending: count('pending'),
      in_progress: count('in_progress'),
      completed: count('completed'),
      failed: count('failed'),
    };
    return json({ project: projectPath, counts, tasks, truncated });
  },
});

const logOfDay = defineResourceTemplate({
  uriTemplate: 'log://{logType}/{date}',
  name: 'historical-logs',
  title: 'Historical logs',
  description: `What all coding tasks logged of one type on one day in UTC, the latest ${MAX_LINES_OF_DAY} lines or so, as plain text. Types: ${LOG_TYPES.join(', ')}. Date: 2026-11-22.`,
  mimeType: 'text/plain',
  role: 'viewer',
  variables: z.strictObject({ logType: z.enum(LOG_TYPES), date: z.iso.date() }),
  complete: { logType: logTypes, date: days },
  read: async ({ services, workspace }, { logType, date }) => {
    const { days: chunks, more } = await services.coding.logsOfDay(
      workspace,
      logType,
      date,
      MAX_LINES_OF_DAY,
    );
    const lines = chunks.flatMap(({ taskId, lines: own }) => own.map((line) => ({ ...line, taskId })));
    const shown = lines
      .sort((a, b) => a.at.getTime() - b.at.getTime() || a.line - b.line)
      .slice(-MAX_LINES_OF_DAY);
    const omitted =
      more || lines.length > shown.length ? ['(There are earlier lines that are not shown.)'] : [];
    return [...omitted, ...shown.map((line) => `${line.taskId} ${textOf(line)}`)]
      .map((line) => `${line}\n`)
      .join('');
  },
});

export const templates: readonly ResourceTemplate[] = [
  task,
  logs,
  result,
  session,
  branch,
  project,
  logOfDay,
];
