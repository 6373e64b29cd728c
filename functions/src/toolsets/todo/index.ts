import { z } from 'zod';
import type { ErrorEnvelope, Toolset } from '../../mcp/tool.ts';
import type { TodoServices } from './create.ts';
import { TODO_CODES } from './rules/todo.ts';
import { filterTasks, listTasks, searchTasks, sortTasks } from './tools/lists.ts';
import {
  createRecurringTask,
  deleteRecurringTask,
  listRecurringTasks,
  updateRecurringTask,
} from './tools/recurringTasks.ts';
import { deleteReminder, listReminders, setReminder, snoozeReminder } from './tools/reminders.ts';
import {
  addTask,
  addTaskTags,
  completeTask,
  delegate,
  deleteTask,
  getTaskHistory,
  reopenTask,
  setTaskDueDate,
  setTaskPriority,
  updateTask,
} from './tools/tasks.ts';

/** Error format of the to-do specification. Codes that only this specification defines are Muster's error reasons. */
const errorEnvelope: ErrorEnvelope = {
  show({ code, message }, { value: _value, entries: _entries, ...details }) {
    const { reason, ...others } = details;
    const own = TODO_CODES.find((one) => one === reason);
    const isOfArguments = code === 'REQUIRED_FIELD' || code === 'INVALID_FORMAT';
    return {
      success: false,
      error: {
        code: own ?? (isOfArguments ? 'VALIDATION_ERROR' : code),
        message,
        details: own === undefined ? details : others,
      },
    };
  },
  schema: z.object({
    success: z.boolean(),
    error: z.object({ code: z.string(), message: z.string(), details: z.record(z.string(), z.unknown()) }),
  }),
};

/** The toolset for a person's to-dos: the tools of the to-do specification in its order, then additional tools. */
export const todo: Toolset<TodoServices> = {
  name: 'todo',
  instructions:
    "To-dos of a person, or of an agent's owner: todo.add_task, todo.list_tasks, todo.complete_task. Times are ISO 8601 in UTC.",
  scope: 'owner',
  tools: [
    addTask,
    updateTask,
    completeTask,
    deleteTask,
    listTasks,
    setTaskPriority,
    setTaskDueDate,
    addTaskTags,
    searchTasks,
    filterTasks,
    sortTasks,
    createRecurringTask,
    listReminders,
    updateRecurringTask,
    deleteRecurringTask,
    listRecurringTasks,
    getTaskHistory,
    setReminder,
    snoozeReminder,
    deleteReminder,
    reopenTask,
    delegate,
  ],
  resources: [],
  errors: errorEnvelope,
};

export type { Mailer, SentMail } from './rules/outbox.ts';
export type { Notification, PushService } from './rules/reminders/notification.ts';

export {
  type DeadLetter,
  type DeadLetters,
  type EventChanges,
  type EventPublisher,
  messageOf,
  QUESTION,
  type TaskEvent,
  type Topic,
} from './rules/taskEvent.ts';
