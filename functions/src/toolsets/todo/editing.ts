/** What the tools that change a to-do have in common. */
import type { TodoEdit } from '../../domain/todos/service.ts';
import type { CallContext } from '../../mcp/tool.ts';
import { writingOwner } from './owner.ts';
import { writtenAnswer } from './shapes.ts';

/** @param done what to say where something was changed */
export async function edited(
  { services, principal, operation }: CallContext,
  taskId: string,
  edit: TodoEdit,
  done: string,
) {
  type Outcome = Awaited<ReturnType<typeof services.todos.edit>>;
  const answer = ({ todo, changed }: Outcome) =>
    writtenAnswer(todo, changed.length === 0 ? 'Nothing changed: the task is so already.' : done);
  return answer(
    await services.todos.edit(writingOwner(principal), taskId, edit, (outcome) =>
      operation.settle(answer(outcome)),
    ),
  );
}
