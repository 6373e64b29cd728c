import { z } from 'zod';
import { clearArgument, clearing } from '../../../mcp/tool.ts';
import type { UpdatedTask } from '../rules/updating.ts';
import { defineTool, priority, taskAnswer, taskArguments, taskId, taskShape } from './coordinationAnswers.ts';

const { description, dependencies, context_files, hints, required_capabilities, deadline } = taskArguments;

export const updateTask = defineTool({
  name: 'update_task',
  title: 'Update a task',
  description:
    'Changes what an open task asks for: for its creator and leaders. What is left out stays, clear removes; lists are replaced.',
  details:
    'Dependencies are checked as at creation. A task that somebody holds can only depend on what is done; other changes its holder finds in the task.',
  input: z.strictObject({
    task_id: taskId,
    description: description.optional(),
    priority: priority.optional(),
    dependencies,
    required_capabilities,
    hints,
    context_files,
    deadline,
    clear: clearArgument('hints', 'deadline'),
  }),
  output: z.object({ success: z.boolean(), message: z.string().optional(), task: taskShape }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  loosens: [],
  role: 'worker',
  example: { task_id: 'task-xxx-001', priority: 2, clear: ['deadline'] },
  answer: ({ task, isChanged }: UpdatedTask) => ({
    success: true,
    message: isChanged ? undefined : 'Nothing changed: the task already has these values.',
    task: taskAnswer(task),
  }),
  handler: ({ services, principal, recordAnswer }, { task_id, clear, ...wishes }) => {
    const changed = clearing(clear);
    const deadlineDate = wishes.deadline === undefined ? undefined : new Date(wishes.deadline);
    return services.taskUpdates.update(
      principal,
      {
        taskId: task_id,
        description: wishes.description,
        priority: wishes.priority,
        dependencies: wishes.dependencies,
        required_capabilities: wishes.required_capabilities,
        hints: changed('hints', wishes.hints),
        files: wishes.context_files,
        deadline: changed('deadline', deadlineDate),
      },
      recordAnswer,
    );
  },
});
