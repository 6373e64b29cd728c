import { z } from 'zod';
import { partial } from '../../../mcp/tool.ts';
import { eventMessage, messageOf } from '../rules/taskEvent.ts';
import { defineTool, reading, taskId } from './todoAnswers.ts';
import { cursor, endShape, fittingPage, pageLimit, timePageOf } from './todoLists.ts';

const object = z.record(z.string(), z.unknown());

const eventShape = eventMessage.extend({
  event_type: z.string(),
  schema_version: z.int(),
  event_data: z.object({ before: object.nullable(), after: object.nullable(), changes: z.array(z.string()) }),
});

export const getTaskHistory = defineTool({
  name: 'get_task_history',
  title: 'What happened to a to-do',
  description: 'Lists what happened to a to-do, newest first, also after it was deleted.',
  details: 'What was created, updated, completed, reminded of and deleted, with the task before and after.',
  audience: 'those who administer',
  input: z.strictObject({ task_id: taskId, limit: pageLimit(20), cursor }),
  output: partial({ events: z.array(eventShape), ...endShape }),
  ...reading,
  example: { task_id: 'todo-xxx-001' },
  handler: async ({ services, principal }, { task_id, ...asked }) => {
    const page = timePageOf({ task_id }, asked);
    const found = await services.todos.history(principal.owner_uid, task_id, page);
    const { answers, end } = fittingPage({ task_id }, found, messageOf, ({ timestamp }) => timestamp);
    return { events: answers, ...end };
  },
});
