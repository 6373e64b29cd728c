import { z } from 'zod';
import type { ErrorEnvelope, Toolset } from '../../mcp/tool.ts';
import type { TodoServices } from './create.ts';
import { TODO_CODES } from './rules/todo.ts';
import { addTask } from './tools/add_task.ts';
import { addTaskTags } from './tools/add_task_tags.ts';
import { completeTask } from './tools/complete_task.ts';
import { createRecurringTask } from './tools/create_recurring_task.ts';
import { delegate } from './tools/delegate.ts';
import { deleteRecurringTask } from './tools/delete_recurring_task.ts';
import { deleteReminder } from './tools/delete_reminder.ts';
import { deleteTask } from './tools/delete_task.ts';
import { filterTasks } from './tools/filter_tasks.ts';
import { getTaskHistory } from './tools/get_task_history.ts';
import { listRecurringTasks } from './tools/list_recurring_tasks.ts';
import { listReminders } from './tools/list_reminders.ts';
import { listTasks } from './tools/list_tasks.ts';
import { reopenTask } from './tools/reopen_task.ts';
import { searchTasks } from './tools/search_tasks.ts';
import { setReminder } from './tools/set_reminder.ts';
import { setTaskDueDate } from './tools/set_task_due_date.ts';
import { setTaskPriority } from './tools/set_task_priority.ts';
import { snoozeReminder } from './tools/snooze_reminder.ts';
import { sortTasks } from './tools/sort_tasks.ts';
import { updateRecurringTask } from './tools/update_recurring_task.ts';
import { updateTask } from './tools/update_task.ts';

/** The to-do specification, "Error Handling". The codes that it adds to ours are reasons of ours. */
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

/** A person's to-dos. Source: the to-do specification, in its order; then ours. */
export const todo: Toolset<TodoServices> = {
  name: 'todo',
  instructions:
    "A person's to-dos, an agent's owner's: todo.add_task, todo.list_tasks, todo.complete_task; todo.create_recurring_task for what repeats. Times are ISO 8601 in UTC.",
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

export type { Notification, PushService } from './rules/notification.ts';

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
