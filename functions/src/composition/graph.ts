/** The graph over all features: where each of its things is found, and what a change of one brings about in another. */
import type { Firestore } from '@google-cloud/firestore';
import { budgetFromDocument, budgetKey } from '../graph/rules/budget.ts';
import { nodeFromDocument } from '../graph/rules/graphNode.ts';
import { FirestoreBudgetQueries } from '../graph/store/budgets.ts';
import { FirestoreGraphQueries } from '../graph/store/nodes.ts';
import type { DocumentReading } from '../kernel/firestore/reading.ts';
import type { BudgetWaits } from '../toolsets/coordination/rules/budgetWait.ts';
import { taskNodeFinder } from '../toolsets/coordination/rules/taskNode.ts';
import type { TaskQueue } from '../toolsets/coordination/rules/taskProgress.ts';
import { FirestoreTaskQueries } from '../toolsets/coordination/store/queries.ts';
import { linkNodeFinder } from '../toolsets/github/rules/pullRequestNode.ts';
import { FirestorePullRequestLinkQueries } from '../toolsets/github/store/pullRequests.ts';
import type { BudgetQuestions } from '../toolsets/inbox/rules/budgetQuestions.ts';
import { runNodeFinder } from '../toolsets/orchestration/rules/runs/runNode.ts';
import type { RunService } from '../toolsets/orchestration/rules/runs/runService.ts';
import { FirestoreRunQueries } from '../toolsets/orchestration/store/runs.ts';
import type { Delegation } from '../toolsets/todo/rules/delegation.ts';
import { todoNodeFinder } from '../toolsets/todo/rules/todoNode.ts';
import { FirestoreTodoQueries } from '../toolsets/todo/store/todos.ts';

/** The stores of things that may be in the graph, and by what each kind is found. */
export function composeGraph(database: Firestore, documents: DocumentReading) {
  const tasks = new FirestoreTaskQueries(database, documents);
  const runs = new FirestoreRunQueries(database, documents);
  const todos = new FirestoreTodoQueries(database, documents);
  const pullRequestLinks = new FirestorePullRequestLinkQueries(database, documents);
  const nodes = {
    task: taskNodeFinder(tasks),
    run: runNodeFinder(runs),
    todo: todoNodeFinder(todos),
    pull_request: linkNodeFinder(pullRequestLinks),
  };
  const graph = new FirestoreGraphQueries(database, documents);
  const budgets = new FirestoreBudgetQueries(database, documents);
  return { graph, budgets, nodes, tasks, runs, todos, pullRequestLinks };
}

interface BudgetFollowers {
  readonly budgetQuestions: BudgetQuestions;
  readonly runs: RunService;
  readonly budgetWaits: BudgetWaits;
}

/** Told at least once of each budget that was set: nobody need answer what was asked of it before, and work goes on. */
export async function followBudget(
  { budgetQuestions, runs, budgetWaits }: BudgetFollowers,
  written: unknown,
): Promise<void> {
  const budget = readable(budgetFromDocument, written);
  if (budget === undefined) return;
  await budgetQuestions.withdrawBefore(budget);
  const key = budgetKey(budget);
  await Promise.all([runs.budgetChanged(key), budgetWaits.budgetChanged(key)]);
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
  const node = readable(nodeFromDocument, written);
  if (node?.kind !== 'task') return;
  if (node.status === 'waiting') await taskQueue.partsChanged(node.id);
  if (node.status === 'cancelled') await runs.wholeCancelled(node.id);
  if (node.status === 'done' && node.partOf?.kind === 'todo') await delegation.taskClosed(node.id);
}

function readable<Value>(fromDocument: (data: unknown) => Value, written: unknown): Value | undefined {
  try {
    return fromDocument(written);
  } catch {
    return undefined;
  }
}
