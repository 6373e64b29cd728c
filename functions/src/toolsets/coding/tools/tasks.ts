/** Tools that create coding tasks, update them and read their logs. Source: the coding specification. */
import { z } from 'zod';
import { partOf } from '../../../graph/rules/linking.ts';
import { idOf } from '../../../kernel/ids.ts';
import { fittingItems } from '../../../kernel/json.ts';
import { listUpTo, optionalList, reading, textUpTo, wholeNumber, writing } from '../../../mcp/tool.ts';
import {
  acceptanceArgument,
  CODING_TOOLS,
  type CodingTask,
  filesShape,
  programOf,
  text,
  texts,
} from '../../coordination/index.ts';
import type { ReadTask } from '../rules/task.ts';
import * as shapes from './codingResponses.ts';

export const createTask = shapes.defineTool({
  name: 'create_task',
  title: 'Create a coding task',
  description:
    'Creates a task for an AI coding agent on a branch; a runner claims and ends it. coding.report_task shows its progress.',
  details: `Returns immediately. The resource task://{taskId} also shows the task. The tool is ${CODING_TOOLS.join(', ')}, or another that a runner of the workspace declared.`,
  rare: ['acceptance', 'context_files'],
  input: z.strictObject({
    tool: textUpTo(100).describe('Such as CLAUDECODE or CODEX'),
    description: text('Task description', 20_000),
    instructions: text('Detailed instructions', 60_000),
    branch: z.string().optional().describe('Default: task/<id>-<description>'),
    config: z
      .record(z.string(), z.unknown())
      .optional()
      .describe(
        'project (owner/name: only its runners claim the task), base, model, acceptance, pullRequest, queueSeconds (60 to 604800, default: a day)',
      ),
    priority: wholeNumber(1, 10).default(5).describe('1 (first) to 10 (last)'),
    dependencies: listUpTo(100, idOf('a task')).optional().describe('IDs of tasks to complete first'),
    context_files: texts('Relevant files', 200).optional(),
    part_of: partOf,
    acceptance: acceptanceArgument,
  }),
  output: shapes.responseShape(z.object({ taskId: z.string(), branch: z.string(), task: shapes.taskShape })),
  ...writing('worker', { destructiveHint: false, idempotentHint: false }),
  approvable: true,
  example: {
    tool: 'CLAUDECODE',
    description: 'Add authentication to the app',
    instructions: 'Implement JWT authentication with login/logout endpoints',
    branch: 'feature/auth',
  },
  response: ({ task, baseUrl }: { task: CodingTask; baseUrl: string }) =>
    shapes.success(`Task created. ${waitsForRunner(task, baseUrl)}`, {
      taskId: task.id,
      branch: task.coding.branch,
      task: shapes.codingTaskResponse(task, task.created_at),
    }),
  handler: async (context, draft) => {
    const { services, workspace, principal, recordResponse, baseUrl, traceparent } = context;
    const request = { ...draft, workspace, traceparent };
    const record = (task: CodingTask) => recordResponse({ task, baseUrl });
    return { task: await services.coding.create(principal, request, record), baseUrl };
  },
});

/** Returns instructions to start a runner. Creating a task starts no runner; without a runner, the task expires. */
function waitsForRunner({ coding, workspace }: CodingTask, baseUrl: string): string {
  const program = programOf(coding.tool);
  const url = `${baseUrl}?workspace=${workspace}`;
  return `It waits for a runner that has ${program}. If no such runner is running, start one on a machine with ${program} and a checkout: npm run runner -- --repo <checkout> --url "${url}", with an agent's credential in MUSTER_TOKEN (docs/guides/runner.md).`;
}

export const updateTask = shapes.defineTool({
  name: 'update_task',
  title: 'Update a coding task',
  description:
    "Sets a coding task's status or adds a log line. in_progress claims an unclaimed task for you, without a runner.",
  details:
    "For the task's runner, its creator and leaders. in_progress does not change the holder of a claimed task. completed and failed end the task, like coding.end_task. An earlier status cannot be set.",
  input: z.strictObject({
    taskId: shapes.taskId,
    status: z.enum(['in_progress', 'completed', 'failed']).optional().describe('New status'),
    log: text('Line to add', 10_000).optional(),
  }),
  output: shapes.responseShape(z.object({ task: shapes.taskShape, files_shared: filesShape })),
  ...writing('worker', { destructiveHint: true, idempotentHint: false }),
  example: { taskId: 'task-000abc-001', log: 'The tests of the login endpoint pass.' },
  response: ({ task, now, shared }: ReadTask) =>
    shapes.success('Task updated.', { task: shapes.codingTaskResponse(task, now), files_shared: optionalList(shared) }),
  handler: ({ services, workspace, principal, recordResponse }, change) =>
    services.codingChanges.update(principal, { workspace, ...change }, recordResponse),
});

export const getTaskLogs = shapes.defineTool({
  name: 'get_task_logs',
  title: 'Read a coding log',
  description:
    "Reads a coding task's log from a cursor, oldest first. Call again with the returned cursor to continue.",
  details:
    'The cursor stays valid when lines are added. A log above 10 MiB loses its middle; dropped is the number of lines missing before the first entry.',
  input: z.strictObject({
    taskId: shapes.taskId,
    cursor: z
      .string()
      .regex(/^\d{1,12}$/, 'expected a cursor that this tool returned')
      .optional()
      .describe('cursor of the last response, to continue after it'),
    limit: wholeNumber(1, 1000).default(200).describe('Maximum entries'),
  }),
  output: shapes.responseShape(
    z.object({
      entries: z.array(shapes.logEntryShape),
      cursor: z.string().describe('Next cursor.'),
      more: z.boolean().describe('Whether more lines exist already.'),
      dropped: z.number().describe('Number of lines missing before the first entry.'),
      total: z.number().describe('Number of lines so far, including dropped ones.'),
    }),
  ),
  ...reading,
  example: { taskId: 'task-000abc-001', limit: 100 },
  handler: async ({ services, workspace }, { taskId: id, cursor, limit }) => {
    const from = Number(cursor ?? 0);
    const page = await services.coding.logs(workspace, id, from, limit);
    const lines = fittingItems(page.lines, shapes.logLineResponse);
    const next = (lines.at(-1)?.line ?? from - 1) + 1;
    return shapes.success(`${lines.length} of ${page.total} lines.`, {
      entries: lines.map(shapes.logLineResponse),
      cursor: String(next),
      more: next < page.total,
      dropped: Math.max(0, (lines[0]?.line ?? from) - from),
      total: page.total,
    });
  },
});
