import { z } from 'zod';
import { WORKSPACE_NAME } from '../../../identity/rules/principal.ts';
import { idLike } from '../../../kernel/ids.ts';
import { listUpTo, partial, textUpTo, wholeNumber } from '../../../mcp/tool.ts';
import { DELEGATED_PRIORITY, type Delegated } from '../rules/delegation.ts';
import { todoAnswer } from '../rules/todo.ts';
import { defineTool, delegatedShape, taskId, taskShape, writing } from './todoAnswers.ts';

export const delegate = defineTool({
  name: 'delegate',
  title: 'Delegate a to-do',
  description:
    'Hands a to-do to the agents of a workspace: makes a task of it, whose completion completes the to-do.',
  details:
    "Members of the workspace see its title and description as the task, and otherwise only that it is somebody's to-do. Where the task fails or is cancelled the to-do stays open, says so, and can be delegated again.",
  input: z.strictObject({
    task_id: taskId,
    workspace: idLike(WORKSPACE_NAME, 'expected 1 to 64 letters, digits, "-" or "_"')
      .optional()
      .describe("Whose agents; the call's own"),
    priority: wholeNumber(1, 10).default(DELEGATED_PRIORITY).describe('1 (first) to 10 (last)'),
    required_capabilities: listUpTo(
      10,
      z.string().regex(/^[^|\s][^|]{0,99}$/u, 'expected 1 to 100 characters without "|"'),
    )
      .optional()
      .describe('Only agents that have all of these get it'),
    hints: textUpTo(20_000).optional().describe('For the worker'),
  }),
  output: partial({ success: z.boolean(), task: taskShape, delegated: delegatedShape, message: z.string() }),
  ...writing({ destructiveHint: false, idempotentHint: false }),
  // The to-do is its owner's; the task is the workspace's.
  role: 'worker',
  scope: 'workspace',
  example: { task_id: 'todo-xxx-001', priority: 3 },
  answer: ({ todo, task }: Delegated) => ({
    success: true,
    task: todoAnswer(todo),
    delegated: { task_id: task.id, workspace: task.workspace, status: 'open' as const },
    message: `Task '${todo.title}' is delegated as ${task.id} in the workspace ${task.workspace}.`,
  }),
  handler: ({ services, principal, workspace: own, recordAnswer }, written) => {
    const { task_id: todoId, workspace = own, required_capabilities = [], ...rest } = written;
    const request = { ...rest, todoId, workspace, required_capabilities };
    return services.delegation.delegate(principal, request, recordAnswer);
  },
});
