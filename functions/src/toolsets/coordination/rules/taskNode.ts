/** Tasks as parts of what they were made for. Source: docs/decisions/0035-graph-and-budgets.md. */

import { type GraphNode, NO_WORK, type NodeStatus, titleOf } from '../../../graph/rules/graphNode.ts';
import type { NodeFinder } from '../../../graph/rules/linking.ts';
import { readIn } from '../../../kernel/ports.ts';
import type { TaskQueries } from './ports.ts';
import type { Task, TaskStatus } from './task.ts';

const STATUSES: Readonly<Record<TaskStatus, NodeStatus>> = {
  available: 'open',
  claimed: 'in_progress',
  in_progress: 'in_progress',
  waiting: 'waiting',
  done: 'done',
  failed: 'failed',
  cancelled: 'cancelled',
};

/** An attempt is a claim. */
export function taskNode(task: Task): GraphNode {
  const { id, workspace, description, status, epoch: attempts, spent = NO_WORK, createdAt } = task;
  return {
    kind: 'task',
    id,
    title: titleOf(description),
    workspace,
    status: STATUSES[status],
    attempts,
    spent,
    createdAt,
    ...(task.partOf && { partOf: task.partOf }),
    ...(task.ancestors && { ancestors: task.ancestors }),
  };
}

/** Finds tasks of the workspace in which they are asked for. */
export function taskNodeFinder(tasks: TaskQueries): NodeFinder {
  return async (id, { workspace }) => {
    const found = await readIn((one) => one === workspace, tasks.find(id));
    if (found?.value.workspace !== workspace) return undefined;
    return { value: taskNode(found.value), version: found.version };
  };
}
