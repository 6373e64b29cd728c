import { z } from 'zod';
import { partOf } from '../../../graph/rules/graphNode.ts';
import { idOf } from '../../../kernel/ids.ts';
import { listUpTo, textUpTo, wholeNumber } from '../../../mcp/tool.ts';
import { type CodingTask, codingTool, programOf, text } from '../../coordination/index.ts';
import { answerShape, codingTaskAnswer, defineTool, success, taskShape, writing } from './codingAnswers.ts';

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
