/**
 * Prevents two open to-dos of one owner with the same title and due date. A small document, the guard, reserves this
 * combination for one to-do. Its id is derived from owner, title and due date, so that one of two concurrent commits
 * fails. Source: the to-do specification, DUPLICATE_TASK; docs/semantics.md#to-dos.
 */
import { MusterError } from '../../../kernel/errors.ts';
import type { TodoChange, TodoPorts } from './ports.ts';
import { caseFolded, type Todo } from './todo.ts';

/** Replaces the guard of `before` by that of `after`. @throws MusterError CONFLICT with the reason DUPLICATE_TASK */
export async function guardChanges(ports: TodoPorts, before: Todo | undefined, after: Todo | undefined) {
  const { changes, holder } = await exchange(ports, before, after, before?.id ?? after?.id);
  if (holder === undefined) return changes;
  const { id, title, due_date } = holder;
  const due = due_date ? `the due date ${due_date.toISOString()}` : 'no due date';
  throw new MusterError('CONFLICT', `An open to-do with this title and ${due} already exists.`, {
    field: 'title',
    value: title,
    reason: 'DUPLICATE_TASK',
    suggestion: 'Use that to-do, or choose another title or due date.',
    about: { existing_task_id: id },
  });
}

/** Like `guardChanges`, but a to-do that duplicates another one gets no guard, and no error is thrown. */
export async function guardChangesIfFree(ports: TodoPorts, before: Todo | undefined, after: Todo) {
  return (await exchange(ports, before, after, after.id)).changes;
}

/**
 * Returns the changes of the guards and, if another to-do already holds the needed guard, that to-do. Clients and new
 * occurrences can create such duplicates: the other to-do then keeps its guard. A to-do without a guard gets one at
 * its next write, if the guard is free.
 */
async function exchange(ports: TodoPorts, before?: Todo, after?: Todo, id?: string) {
  const [old, next] = [guardOf(ports, before), guardOf(ports, after)];
  if (id === undefined) return { changes: [] };
  const left = old === undefined || old === next ? undefined : await ports.todos.findGuard(old);
  const released: TodoChange[] =
    old !== undefined && left?.value === id ? [{ kind: 'releaseTitle', id: old, version: left.version }] : [];
  if (next === undefined) return { changes: released };
  const held = await ports.todos.findGuard(next);
  if (held?.value === id) return { changes: released };
  const holder = held && (await ports.todos.find(held.value))?.value;
  if (holder !== undefined && guardOf(ports, holder) === next)
    return old === next ? { changes: [] } : { changes: released, holder };
  const replaced = held && { replaces: held.version };
  const reserving: TodoChange = { kind: 'reserveTitle', id: next, taskId: id, ...replaced };
  return { changes: [...released, reserving] };
}

/** Returns the id of the to-do's guard; undefined for a completed to-do, which needs none. */
function guardOf({ hashing }: TodoPorts, todo: Todo | undefined): string | undefined {
  if (todo === undefined || todo.completed) return undefined;
  const { owner_uid, title, due_date } = todo;
  return hashing.sha256(JSON.stringify([owner_uid, caseFolded(title), due_date?.getTime() ?? null]));
}
