import { z } from 'zod';
import type { Task } from '../rules/task.ts';
import {
  defineTool,
  draftOf,
  priority,
  taskAnswer,
  taskArguments,
  taskShape,
  USUAL_PRIORITY,
} from './coordinationAnswers.ts';

export const createTask = defineTool({
  name: 'create_task',
  title: 'Create a task',
  description:
    'Adds a task to the queue for workers to claim; coordination.create_tasks_batch adds several, coding.create_task one for a coding agent.',
  details: 'Workers get tasks by priority, then deadline, then age, once all dependencies are done.',
  input: z.strictObject({ ...taskArguments, priority: priority.default(USUAL_PRIORITY) }),
  output: z.object({ success: z.boolean(), task: taskShape }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  loosens: [],
  role: 'leader',
  example: {
    description: 'Implement user login endpoint',
    priority: 1,
    dependencies: ['task-xxx-001'],
    context_files: ['src/auth/login.ts'],
    hints: 'Use JWT for tokens, bcrypt for passwords',
  },
  answer: ([task]: readonly Task[]) => {
    if (task === undefined) throw new Error('A task was created and is not there.');
    return { success: true, task: taskAnswer(task) };
  },
  handler: ({ services, workspace, principal, recordAnswer }, written) => {
    const createdBy = principal.agent_id ?? principal.uid;
    const request = {
      workspace,
      createdBy,
      opener: principal,
      viewer: principal,
      drafts: [draftOf(written)],
    };
    return services.taskCreation.create(request, recordAnswer);
  },
});
