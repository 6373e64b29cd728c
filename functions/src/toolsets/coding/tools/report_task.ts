import { z } from 'zod';
import { defineTool } from '../../../mcp/tool.ts';
import { reportText } from './reportText.ts';
import {
  answerShape,
  codingTaskAnswer,
  historyAnswer,
  logEntryShape,
  previousShape,
  reading,
  success,
  taskId,
  taskShape,
} from './shapes.ts';

/** A report on a task; `task://{taskId}` is the same without the result. */
export const reportShape = z.object({
  task: taskShape,
  attempts: z.array(previousShape.extend({ epoch: z.number() })).describe('Those that failed.'),
  logs: z.object({
    lines: z.number().describe('How many there are, those included that were dropped for their age.'),
    latest: z.array(logEntryShape),
  }),
  result: z.unknown().optional().describe('As it was given to coding.end_task.'),
});

export const reportTask = defineTool({
  name: 'report_task',
  title: 'Report on a coding task',
  view: 'coding',
  description: "Returns a coding task's state, attempts, latest log lines, commits, files and cost.",
  details: 'Also why attempts failed, and the commands and tokens of its result.',
  input: z.strictObject({ taskId }),
  output: answerShape(reportShape),
  annotations: reading,
  answersWhole: true,
  role: 'viewer',
  example: { taskId: 'task-000abc-001' },
  text: ({ result }) => reportText(result),
  handler: async ({ services, workspace }, { taskId: id }) => {
    const { task, now, log } = await services.coding.findWithLog(workspace, id);
    const answer = codingTaskAnswer(task, now);
    return success(`Task ${task.id} is ${answer.status}.`, {
      task: answer,
      ...historyAnswer(task, log),
      result: task.coding.result && JSON.parse(await services.coding.result(task)),
    });
  },
});
