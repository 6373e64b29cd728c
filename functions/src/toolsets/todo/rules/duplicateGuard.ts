/**
 * No two open to-dos of one owner have the same title and due date. A small document under an id made of the
 * three, the guard, keeps them for one to-do, so that of two commits at once one fails. Source: the to-do specification,
 * DUPLICATE_TASK; docs/semantics.md#to-dos.
 */

import { MusterError } from '../../../kernel/errors.ts';
import type { TodoChange, TodoPorts } from './ports.ts';
import { caseFolded, type Todo } from './todo.ts';

/** Reserves the guard of `after` in place of that of `before`. @throws MusterError CONFLICT, with the reason DUPLICATE_TASK */
export async function guardChanges(ports: TodoPorts, before: Todo | undefined, after: Todo | undefined) {
  const { changes, holder } = await exchange(ports, before, after, before?.id ?? after?.id);
  if (holder === undefined) return changes;
  const { id, title, due_date } = holder;
  const due = due_date ? `the due date ${due_date.toISOString()}` : 'no due date';
  throw new MusterError('CONFLICT', `An open task with this title and ${due} already exists.`, {
    field: 'title',
    value: title,
    reason: 'DUPLICATE_TASK',
    suggestion: 'Use that one, or choose another title or due date.',
    about: { existing_task_id: id },
  });
}

/** The same for a to-do that exists already: a duplicate gets no guard. */
export async function guardChangesIfFree(ports: TodoPorts, before: Todo | undefined, after: Todo) {
  return (await exchange(ports, before, after, after.id)).changes;
}

/**
 * How a commit changes the guards, and the to-do that has the wanted one already. A client may have given a to-do
 * the title of another one, or an occurrence may have come to have it: the guard is then the other's, and stays. A
 * to-do without a guard takes it, if it is free, whenever the to-do is written.
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

/** Undefined for a to-do that needs no guard. */
function guardOf({ hashing }: TodoPorts, todo: Todo | undefined): string | undefined {
  if (todo === undefined || todo.completed) return undefined;
  const { owner_uid, title, due_date } = todo;
  return hashing.sha256(JSON.stringify([owner_uid, caseFolded(title), due_date?.getTime() ?? null]));
}
