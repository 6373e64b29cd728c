import { z } from 'zod';
import {
  answerShape,
  codingTaskAnswer,
  defineTool,
  historyAnswer,
  reading,
  reportShape,
  reportText,
  success,
  taskId,
} from './codingAnswers.ts';

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
