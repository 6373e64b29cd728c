/** The tools of those who order code: create a task, change it, read its log. Source: the coding specification. */
import { z } from 'zod';
import { partOf } from '../../../graph/rules/linking.ts';
import { idOf } from '../../../kernel/ids.ts';
import { fitting } from '../../../kernel/json.ts';
import { listUpTo, textUpTo, wholeNumber } from '../../../mcp/tool.ts';
import { type CodingTask, codingTool, programOf, text } from '../../coordination/index.ts';
import type { Seen } from '../rules/task.ts';
import {
  answerShape,
  codingTaskAnswer,
  defineTool,
  logEntryShape,
  logLineAnswer,
  reading,
  success,
  taskId,
  taskShape,
  writing,
} from './codingAnswers.ts';

export const createTask = defineTool({
  name: 'create_task',
  title: 'Create a coding task',
  description:
    'Has an AI coding agent do a task on a branch: a runner claims and ends it. Answers at once; coding.report_task tells how it goes.',
  details: 'The resource task://{taskId} shows it too.',
  input: z.strictObject({
    tool: textUpTo(100).describe('One of CLAUDECODE, GEMINI'),
    description: text('Task description', 20_000),
    instructions: text('For the agent, in detail', 60_000),
    branch: z.string().optional().describe('task/<id>-<description> if left out'),
    config: z
      .record(z.string(), z.unknown())
      .optional()
      .describe(
        'project (owner/name: only its runners take the task), base, model, acceptance, pullRequest, queueSeconds (60 to 604800, a day by default)',
      ),
    priority: wholeNumber(1, 10).default(5).describe('1 (first) to 10 (last)'),
    dependencies: listUpTo(100, idOf('a task')).optional().describe('Tasks to complete first, by id'),
    part_of: partOf,
  }),
  output: answerShape(z.object({ taskId: z.string(), branch: z.string(), task: taskShape })),
  annotations: { ...writing, idempotentHint: false },
  loosens: [],
  role: 'worker',
  approvable: true,
  example: {
    tool: 'CLAUDECODE',
    description: 'Add authentication to the app',
    instructions: 'Implement JWT authentication with login/logout endpoints',
    branch: 'feature/auth',
  },
  answer: ({ task, baseUrl }: { task: CodingTask; baseUrl: string }) =>
    success(`Task created. ${waitsForRunner(task, baseUrl)}`, {
      taskId: task.id,
      branch: task.coding.branch,
      task: codingTaskAnswer(task, task.created_at),
    }),
  handler: async ({ services, workspace, principal, recordAnswer, baseUrl }, { tool, part_of, ...draft }) => {
    const request = { ...draft, part_of: part_of, tool: codingTool(tool, 'tool'), workspace };
    const record = (task: CodingTask) => recordAnswer({ task, baseUrl });
    return { task: await services.coding.create(principal, request, record), baseUrl };
  },
});

/** Tasks do not start runners; who has none would wait for nothing. */
function waitsForRunner({ coding, workspace }: CodingTask, baseUrl: string): string {
  const program = programOf(coding.tool);
  const url = `${baseUrl}?workspace=${workspace}`;
  return `It waits for a runner that has ${program}. Where none runs, start one where the code and ${program} are: npm run runner -- --repo <checkout> --url "${url}", with an agent's credential in MUSTER_TOKEN (docs/guides/runner.md).`;
}

export const updateTask = defineTool({
  name: 'update_task',
  title: 'Update a coding task',
  description:
    'Sets the status of a coding task, or adds a line to its log. in_progress makes a free task your own, to do without a runner.',
  details:
    'Its runner, whoever created it and leaders may. in_progress of a task that a runner has claimed is noted. completed and failed end the task, as coding.end_task does; a status never goes back.',
  input: z.strictObject({
    taskId,
    status: z.enum(['in_progress', 'completed', 'failed']).optional().describe('New status'),
    log: text('Line to add', 10_000).optional(),
  }),
  output: answerShape(z.object({ task: taskShape })),
  annotations: { ...writing, destructiveHint: true, idempotentHint: false },
  loosens: [],
  role: 'worker',
  example: { taskId: 'task-000abc-001', log: 'The tests of the login endpoint pass.' },
  answer: ({ task, now }: Seen) => success('Task updated.', { task: codingTaskAnswer(task, now) }),
  handler: ({ services, workspace, principal, recordAnswer }, change) =>
    services.codingChanges.update(principal, { workspace, ...change }, recordAnswer),
});

export const getTaskLogs = defineTool({
  name: 'get_task_logs',
  title: 'Read the log of a coding task',
  description:
    "Reads the log of a coding task after a cursor, oldest first. Call again with the answer's cursor to go on.",
  details:
    'Also later, when there is more. Of a log above 10 MiB the middle is dropped: dropped says how many lines are missing before the first entry.',
  input: z.strictObject({
    taskId,
    cursor: z
      .string()
      .regex(/^\d{1,12}$/, 'expected the cursor of an earlier answer')
      .optional()
      .describe('cursor of the last answer, to go on after what it held'),
    limit: wholeNumber(1, 1000).default(200).describe('The most entries to give'),
  }),
  output: answerShape(
    z.object({
      entries: z.array(logEntryShape),
      cursor: z.string().describe('Where to go on.'),
      more: z.boolean().describe('Whether there is more already.'),
      dropped: z.number().describe('Lines that are missing before the first entry.'),
      total: z.number().describe('All lines so far.'),
    }),
  ),
  annotations: reading,
  role: 'viewer',
  audience: 'runners',
  example: { taskId: 'task-000abc-001', limit: 100 },
  handler: async ({ services, workspace }, { taskId: id, cursor, limit }) => {
    const from = Number(cursor ?? 0);
    const page = await services.coding.logs(workspace, id, from, limit);
    const lines = fitting(page.lines, logLineAnswer);
    const next = (lines.at(-1)?.line ?? from - 1) + 1;
    return success(`${lines.length} of ${page.total} lines.`, {
      entries: lines.map(logLineAnswer),
      cursor: String(next),
      more: next < page.total,
      dropped: Math.max(0, (lines[0]?.line ?? from) - from),
      total: page.total,
    });
  },
});
