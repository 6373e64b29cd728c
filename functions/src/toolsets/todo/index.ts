import type { Toolset } from '../../mcp/tool.ts';
import { addTask } from './add_task.ts';
import { addTaskTags } from './add_task_tags.ts';
import { completeTask } from './complete_task.ts';
import { createRecurringTask } from './create_recurring_task.ts';
import { deleteRecurringTask } from './delete_recurring_task.ts';
import { deleteReminder } from './delete_reminder.ts';
import { deleteTask } from './delete_task.ts';
import { filterTasks } from './filter_tasks.ts';
import { getTaskHistory } from './get_task_history.ts';
import { listRecurringTasks } from './list_recurring_tasks.ts';
import { listReminders } from './list_reminders.ts';
import { listTasks } from './list_tasks.ts';
import { searchTasks } from './search_tasks.ts';
import { setReminder } from './set_reminder.ts';
import { setTaskDueDate } from './set_task_due_date.ts';
import { setTaskPriority } from './set_task_priority.ts';
import { snoozeReminder } from './snooze_reminder.ts';
import { sortTasks } from './sort_tasks.ts';
import { updateRecurringTask } from './update_recurring_task.ts';
import { updateTask } from './update_task.ts';

/** A person's to-dos. Source: spec/todo.md, in its order; then ours. */
export const todo: Toolset = {
  name: 'todo',
  instructions:
    "A person's to-dos, an agent's owner's: add_task, list_tasks, complete_task; create_recurring_task for what repeats. Times are ISO 8601 in UTC.",
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
  ],
  resources: [],
};
