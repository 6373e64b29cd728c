import { z } from 'zod';
import { fitting } from '../../../kernel/json.ts';
import { wholeNumber } from '../../../mcp/tool.ts';
import {
  answerShape,
  defineTool,
  logEntryShape,
  logLineAnswer,
  reading,
  success,
  taskId,
} from './codingAnswers.ts';

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
