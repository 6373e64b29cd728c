/** Coding tasks of which a budget is spent: they wait as before a retry, and are looked at again. */
import {
  amountOf,
  budgetKey,
  budgetKeysOf,
  type Refusal,
  spentOut,
  waitsForBudget,
} from '../../../graph/rules/budget.ts';
import { NO_WORK, nodeKey } from '../../../graph/rules/graphNode.ts';
import type { BudgetPorts } from '../../../graph/rules/ports.ts';
import type { Versioned } from '../../../kernel/commit.ts';
import { Service, unlessUnreadable } from '../../../kernel/ports.ts';
import { retryStale } from '../../../kernel/waiting.ts';
import { queueGrowth } from './openSession.ts';
import type { CoordinationChange, CoordinationPorts } from './ports.ts';
import { endBackoff } from './stateMachine.ts';
import type { Task } from './task.ts';

/** How soon a task can be claimed again, where nobody says that the budget was raised. */
const WAIT_MILLISECONDS = 10 * 60_000;

const BATCH = 100;

export interface BudgetWaitPorts extends CoordinationPorts, BudgetPorts {
  /** Asks whoever has set a budget that is spent to raise it, once. @param workspace where it is missed */
  readonly askToRaise: (refusal: Refusal, workspace: string) => Promise<void>;
}

function keysOf(task: Task): readonly string[] {
  return budgetKeysOf(nodeKey({ kind: 'task', id: task.id }), task);
}

/** The budget that keeps a runner from beginning a coding task: nobody knows what it will cost. */
export async function budgetRefusal({ budgets }: BudgetPorts, task: Task): Promise<Refusal | undefined> {
  return task.coding === undefined ? undefined : spentOut(await budgets.limited(keysOf(task)));
}

/** Its time in the queue begins anew after the wait. */
export function waitForBudget(task: Task, { by }: Refusal, now: Date): Task {
  const retryAt = new Date(now.getTime() + WAIT_MILLISECONDS);
  const { coding } = task;
  const queueEndsAt = coding && new Date(retryAt.getTime() + coding.queue_seconds * 1000);
  return {
    ...task,
    budget_wait: budgetKey(by.budget),
    retry_at: retryAt,
    blockers: task.blockers + 1,
    ...(coding && queueEndsAt && { coding: { ...coding, queue_ends_at: queueEndsAt } }),
  };
}

/** Why a task waits that nobody can claim, in a sentence; undefined where it is not for a budget. */
export function budgetReason({ status, retry_at, budget_wait }: Task): string | undefined {
  if (status !== 'available' || retry_at === undefined || budget_wait === undefined) return undefined;
  return waitsForBudget(budget_wait);
}

/** What a task has taken since, for the budgets that hold for it: nobody has reserved it. */
export async function spendingChanges(
  { budgets }: BudgetPorts,
  { spent: before = NO_WORK }: Task,
  task: Task,
): Promise<readonly CoordinationChange[]> {
  const { spent: after = NO_WORK } = task;
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
  /** A budget was set: what waits for it can be claimed, and looks again then. */
  async budgetChanged(key: string): Promise<void> {
    for (let after: string | undefined, more = true; more; ) {
      const ids = await this.ports.tasks.waitingFor(key, BATCH, after);
      for (const id of ids) await this.end(id, key);
      after = ids.at(-1);
      more = ids.length === BATCH;
    }
  }

  private end(taskId: string, key: string): Promise<void> {
    const { tasks, sessions, store, randomness } = this.ports;
    return retryStale(randomness, async () => {
      const found = await unlessUnreadable(tasks.find(taskId));
      if (found?.value.budget_wait !== key) return;
      const grown = await queueGrowth(sessions, found.value);
      await store.commit(endingChanges(found, grown));
    });
  }
}

/** A task that has ended or was changed meanwhile only stops to say that it waits. */
function endingChanges(
  { value: before, version }: Versioned<Task>,
  grown: readonly CoordinationChange[],
): readonly CoordinationChange[] {
  const isWaiting = budgetReason(before) !== undefined;
  const { budget_wait: _, ...rest } = isWaiting ? endBackoff(before) : before;
  return [{ kind: 'replaceTask', task: rest, before, version }, ...(isWaiting ? grown : [])];
}
