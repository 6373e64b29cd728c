/** To-dos as parts of what they were made for, and as what others are for. Source: docs/decisions/0035-graph-and-budgets.md. */

import { type GraphNode, NO_WORK, titleOf } from '../../../graph/rules/graphNode.ts';
import type { NodeFinder } from '../../../graph/rules/linking.ts';
import { readFor } from '../../../kernel/ports.ts';
import type { TodoQueries } from './ports.ts';
import type { RemindedTodo, Todo } from './todo.ts';

export function todoNode(todo: Todo, isDeleted = false): GraphNode {
  const { id, title, owner_uid, completed, created_at } = todo;
  return {
    kind: 'todo',
    thing_id: id,
    title: titleOf(title),
    owner_uid,
    status: completed ? 'done' : isDeleted ? 'cancelled' : 'open',
    attempts: 0,
    spent: NO_WORK,
    created_at,
    ...(todo.part_of && { part_of: todo.part_of }),
    ...(todo.ancestors && { ancestors: todo.ancestors }),
    ...(isDeleted && { deleted: isDeleted }),
  };
}

/** Counted as it was reported last: what its owner has changed past the tools is counted as it is repaired. */
export function asReported({ value, lastReported }: RemindedTodo): Todo {
  return lastReported === undefined ? value : { ...value, completed: lastReported['completed'] === true };
}

/** Finds to-dos for their owner and the owner's agents. */
export function todoNodeFinder(todos: TodoQueries): NodeFinder {
  return async (id, { principal }) => {
    const reading = todos.findReminded(id);
    const found = await (principal ? readFor(principal.owner_uid, reading) : reading);
    if (found === undefined) return undefined;
    if (principal !== undefined && found.value.owner_uid !== principal.owner_uid) return undefined;
    return { value: todoNode(asReported(found)), version: found.version };
  };
}
