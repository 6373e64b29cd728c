import { z } from 'zod';
import { idOf } from '../../../kernel/ids.ts';
import { fitting } from '../../../kernel/json.ts';
import { listUpTo } from '../../../mcp/tool.ts';
import { coordinationStatus, type Task } from '../rules/task.ts';
import {
  cursor,
  defineTool,
  pageAfter,
  pageLimit,
  pageOf,
  pageShape,
  resultAnswer,
  some,
  taskShape,
} from './coordinationAnswers.ts';

const { status, error, result, completed_at } = taskShape.shape;

const resultAnswerOf = (task: Task) => ({
  task_id: task.id,
  description: task.description,
  result: resultAnswer(task.result),
  completed_at: task.completed_at?.toISOString(),
});

export const getResults = defineTool({
  name: 'get_results',
  title: 'Results',
  description: 'Answers the results of completed tasks, in the order of completion.',
  input: z.strictObject({
    task_ids: listUpTo(100, idOf('a task'), 'ids').optional().describe('All if left out or empty'),
    limit: pageLimit('1 to 500', 200, 500),
    cursor,
  }),
  output: z.object({
    results: z.array(z.object({ task_id: z.string(), description: z.string(), result, completed_at })),
    without_result: z
      .array(z.object({ task_id: z.string(), status, error }))
      .optional()
      .describe('The named tasks that are not done.'),
    left_out: z
      .array(z.string())
      .optional()
      .describe('The named tasks whose results this answer has no room for: ask for them again.'),
    ...pageShape,
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  answersWhole: true,
  role: 'viewer',
  example: { task_ids: ['task-xxx-001'] },
  handler: async ({ services, workspace }, { task_ids = [], limit, cursor: encoded }) => {
    if (task_ids.length === 0) {
      const found = await services.coordination.listDone(workspace, pageAfter(encoded, limit));
      const { items, end } = pageOf(found, (task) => task.completed_at, resultAnswerOf);
      return { results: items, ...end };
    }
    const named = await services.coordination.namedTasks(workspace, task_ids);
    const others = named.filter((task) => task.status !== 'done');
    const done = named.filter((task) => task.status === 'done');
    const given = fitting(done, resultAnswerOf);
    const leftOut = done.slice(given.length);
    return {
      results: given.map(resultAnswerOf),
      left_out: some(leftOut.map(({ id }) => id)),
      without_result: some(
        others.map(({ id, status, error }) => ({ task_id: id, status: coordinationStatus(status), error })),
      ),
      truncated: leftOut.length > 0,
    };
  },
});
