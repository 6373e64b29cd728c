/** Coding tasks with an exhausted budget wait, like tasks after a failure, and become claimable after a delay. */
import {
  amountOf,
  type BudgetRefusal,
  budgetKey,
  budgetKeysOf,
  exhaustedBudget,
  waitsForBudget,
} from '../../../graph/rules/budget.ts';
import { NO_USAGE, nodeKey } from '../../../graph/rules/graphNode.ts';
import type { BudgetPorts } from '../../../graph/rules/ports.ts';
import { retryOnConflict } from '../../../kernel/concurrency.ts';
import { Service, skipUnreadable } from '../../../kernel/ports.ts';
import { queueGrowth } from './openSession.ts';
import type { CoordinationChange, CoordinationPorts, WaitField } from './ports.ts';
import { endBackoff, putOff } from './stateMachine.ts';
import type { Task } from './task.ts';

/** Delay after which a task can be claimed again if the budget is not raised earlier. */
const BUDGET_WAIT_MS = 10 * 60_000;
const BATCH = 100;

export interface BudgetWaitPorts extends CoordinationPorts, BudgetPorts {
  /** Asks the person who set an exhausted budget to raise it, once. @param workspace that of the waiting task */
  readonly askToRaise: (refusal: BudgetRefusal, workspace: string) => Promise<void>;
}

function keysOf(task: Task): readonly string[] {
  return budgetKeysOf(nodeKey({ kind: 'task', id: task.id }), task);
}

/** Returns the exhausted budget, if any, that blocks a coding task. Reserves nothing, because costs are unknown. */
export async function budgetRefusal({ budgets }: BudgetPorts, task: Task): Promise<BudgetRefusal | undefined> {
  // A command run asks no model.
  if (task.coding === undefined || task.coding.command !== undefined) return undefined;
  return exhaustedBudget(await budgets.limited(keysOf(task)));
}

/** Returns the task with its wait for a budget. */
export function pauseForBudget(task: Task, { limitedBy }: BudgetRefusal, now: Date): Task {
  return { ...putOff(task, new Date(now.getTime() + BUDGET_WAIT_MS)), budget_wait: budgetKey(limitedBy.budget) };
}

/** Returns a sentence that names the budget a task waits for, or undefined if the task waits for no budget. */
export function budgetReason({ status, retry_at, budget_wait }: Task): string | undefined {
  if (status !== 'available' || retry_at === undefined || budget_wait === undefined) return undefined;
  return waitsForBudget(budget_wait);
}

/** Returns the changes that charge a task's new usage to its budgets, without a reservation. */
export async function usageChanges(
  { budgets }: BudgetPorts,
  { spent: before = NO_USAGE }: Task,
  task: Task,
): Promise<readonly CoordinationChange[]> {
  const { spent: after = NO_USAGE } = task;
  const more = amountOf({
    input_tokens: after.input_tokens - before.input_tokens,
    output_tokens: after.output_tokens - before.output_tokens,
    cost_usd: after.cost_usd - before.cost_usd,
  });
  if (more.nano_usd <= 0 && more.tokens <= 0) return [];
  const keys = (await budgets.limited(keysOf(task))).map(({ budget }) => budgetKey(budget));
  return keys.length === 0 ? [] : [{ kind: 'spend', keys, spent: more }];
}

export class BudgetWaits extends Service<CoordinationPorts> {
  /** Makes the tasks that wait for the budget claimable again. Each claim then checks the budget again. */
  budgetChanged(key: string): Promise<void> {
    return endWaits(this.ports, 'budget_wait', key);
  }
}

/** Makes the tasks claimable again whose field has this value. */
export async function endWaits(ports: CoordinationPorts, field: WaitField, key: string): Promise<void> {
  for (let after: string | undefined, more = true; more; ) {
    const ids = await ports.tasks.waitingFor(field, key, { limit: BATCH, after });
    for (const id of ids) await endWait(ports, id, field, key);
    after = ids.at(-1);
    more = ids.length === BATCH;
  }
}

function endWait(
  { tasks, sessions, store, randomness }: CoordinationPorts,
  taskId: string,
  field: WaitField,
  key: string,
): Promise<void> {
  return retryOnConflict(randomness, async () => {
    const found = await skipUnreadable(tasks.find(taskId));
    if (found?.value[field] !== key) return;
    const { value: before, version } = found;
    // If the wait has ended already, only the field is removed.
    const isWaiting = before.status === 'available' && before.retry_at !== undefined;
    const { [field]: _, ...task } = isWaiting ? endBackoff(before) : before;
    const grown = isWaiting ? await queueGrowth(sessions, before) : [];
    await store.commit([{ kind: 'replaceTask', task, before, version }, ...grown]);
  });
}
