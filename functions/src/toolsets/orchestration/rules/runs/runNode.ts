/** Runs in the graph of items and their parts. Source: docs/decisions/0035-graph-and-budgets.md. */
import { type GraphNode, type NodeStatus, titleOf } from '../../../../graph/rules/graphNode.ts';
import type { NodeFinder } from '../../../../graph/rules/linking.ts';
import { readFor } from '../../../../kernel/ports.ts';
import type { RunQueries } from '../ports.ts';
import type { Run, RunStatus } from './run.ts';
import { visibilityOf } from './visibility.ts';

const STATUSES: Readonly<Record<RunStatus, NodeStatus>> = {
  pending: 'open',
  running: 'in_progress',
  waiting: 'waiting',
  succeeded: 'done',
  failed: 'failed',
  cancelled: 'cancelled',
};

/** Returns a run as a node of the graph. Attempts are requests to models. The usage includes all recorded steps. */
export function runNode(run: Run): GraphNode {
  const { id, owner_uid, workspace, title, status, spent, worked, created_at } = run;
  return {
    kind: 'run',
    thing_id: id,
    title: titleOf(title),
    workspace,
    owner_uid,
    status: STATUSES[status],
    attempts: worked?.attempts ?? 0,
    spent: { ...spent, milliseconds: worked?.milliseconds ?? 0 },
    created_at,
    ...(run.part_of && { part_of: run.part_of }),
    ...(run.ancestors && { ancestors: run.ancestors }),
  };
}

/** Finds runs of the current workspace of which the caller may see at least the state. */
export function runNodeFinder(runs: RunQueries): NodeFinder {
  return async (id, { principal, workspace }) => {
    const reading = runs.find(id);
    const found = await (principal ? readFor(principal.owner_uid, reading) : reading);
    if (found?.value.workspace !== workspace) return undefined;
    if (principal !== undefined && visibilityOf(principal, found.value) === undefined) return undefined;
    return { value: runNode(found.value), version: found.version };
  };
}
