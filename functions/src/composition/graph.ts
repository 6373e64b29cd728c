/** The graph over all features: where each of its things is found, and what a change of one brings about in another. */
import type { Firestore } from '@google-cloud/firestore';
import { GraphQueries, nodeFromDocument } from '../graph/store/nodes.ts';
import type { DocumentReading } from '../kernel/firestore/reading.ts';
import { taskNodeFinder } from '../toolsets/coordination/rules/node.ts';
import type { TaskQueue } from '../toolsets/coordination/rules/taskProgress.ts';
import { TaskQueries } from '../toolsets/coordination/store/queries.ts';
import { linkNodeFinder } from '../toolsets/github/rules/node.ts';
import { PullRequestLinkQueries } from '../toolsets/github/store/pullRequests.ts';
import { runNodeFinder } from '../toolsets/orchestration/rules/runs/node.ts';
import type { RunService } from '../toolsets/orchestration/rules/runs/runService.ts';
import { RunQueries } from '../toolsets/orchestration/store/runs.ts';
import type { Delegation } from '../toolsets/todo/rules/delegation.ts';
import { todoNodeFinder } from '../toolsets/todo/rules/node.ts';
import { TodoQueries } from '../toolsets/todo/store/todos.ts';

/** The stores of things that may be in the graph, and by what each kind is found. */
export function composeGraph(database: Firestore, documents: DocumentReading) {
  const tasks = new TaskQueries(database, documents);
  const runs = new RunQueries(database, documents);
  const todos = new TodoQueries(database, documents);
  const pullRequestLinks = new PullRequestLinkQueries(database, documents);
  const nodes = {
    task: taskNodeFinder(tasks),
    run: runNodeFinder(runs),
    todo: todoNodeFinder(todos),
    pull_request: linkNodeFinder(pullRequestLinks),
  };
  return { graph: new GraphQueries(database, documents), nodes, tasks, runs, todos, pullRequestLinks };
}

interface Followers {
  readonly taskQueue: TaskQueue;
  readonly delegation: Delegation;
  readonly runs: RunService;
}

/**
 * Each state of a thing is told, at least once: what is told here only says whether it is worth a look, and each of
 * those who look goes by what is there. One that cannot be read is told again when it is written anew.
 */
export async function followGraph(
  { taskQueue, delegation, runs }: Followers,
  written: unknown,
): Promise<void> {
  const node = readable(written);
  if (node?.kind !== 'task') return;
  if (node.status === 'waiting') await taskQueue.partsChanged(node.id);
  if (node.status === 'cancelled') await runs.wholeCancelled(node.id);
  if (node.status === 'done' && node.partOf?.kind === 'todo') await delegation.taskClosed(node.id);
}

function readable(written: unknown) {
  try {
    return nodeFromDocument(written);
  } catch {
    return undefined;
  }
}
