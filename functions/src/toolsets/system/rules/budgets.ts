/** Permissions for setting and reading budgets. Source: docs/decisions/0035-graph-and-budgets.md. */
import { z } from 'zod';
import {
  amountOf,
  type Budget,
  type BudgetRef,
  budgetKey,
  budgetRefOf,
  type CountedBudget,
  isLimited,
  limitFields,
  limitSettersAfter,
  NO_AMOUNT,
} from '../../../graph/rules/budget.ts';
import { keyOfNode, nodeKey, nodeNotFound, type StoredNode } from '../../../graph/rules/graphNode.ts';
import type { GraphPorts } from '../../../graph/rules/linking.ts';
import type { BudgetPorts } from '../../../graph/rules/ports.ts';
import { hasRoleIn, noRoleIn, type Principal, roleIn } from '../../../identity/rules/principal.ts';
import type { AuditEffect } from '../../../kernel/auditLog.ts';
import type { RecordResponse, Versioned } from '../../../kernel/commit.ts';
import { retryOnConflict } from '../../../kernel/concurrency.ts';
import { cannotUndoError, restoredFields } from '../../../kernel/effects.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { readUnreadable, Service } from '../../../kernel/ports.ts';
import { type CoordinationChange, type CoordinationPorts, requireTaskManager } from '../../coordination/index.ts';

type Ports = BudgetPorts & GraphPorts & Pick<CoordinationPorts, 'store' | 'clock' | 'randomness' | 'tasks'>;

export interface WantedBudget extends BudgetRef {
  readonly workspace: string;
  /** Limit in US dollars. Null removes the limit, and undefined keeps it. */
  readonly money?: number | null | undefined;
  readonly tokens?: number | null | undefined;
}

const noLimit = z.number().nullable().default(null);

/** Limits before a change, as stored in an audit entry. Null means that the budget did not exist. */
const limitsBefore = z.object({ cost_usd: noLimit, tokens: noLimit });

export class Budgets extends Service<Ports> {
  /** Sets a budget. Earlier spending counts, except for a workspace. @throws MusterError NOT_FOUND; FORBIDDEN */
  set(
    principal: Principal,
    wanted: WantedBudget,
    recordResponse: RecordResponse<CountedBudget>,
  ): Promise<CountedBudget> {
    return retryOnConflict(this.ports.randomness, async () => {
      const { change, counted } = await this.setting(principal, wanted);
      await this.ports.store.commit([change], recordResponse(counted));
      return counted;
    });
  }

  /** Undoes a change of a budget, if the caller could set that budget now. */
  readonly inverse = async (effect: AuditEffect, principal: Principal): Promise<readonly CoordinationChange[]> => {
    const ref = budgetRefOf(effect.id);
    if (ref === undefined) throw cannotUndoError(effect, 'This item cannot have a budget.');
    const found = await this.ports.budgets.find(effect.id);
    const { cost_usd: money, tokens } = limitsBefore.parse(
      restoredFields(effect, found && limitFields(found.value)) ?? {},
    );
    const wanted = { ...ref, workspace: effect.workspace ?? '', money, tokens };
    return [(await this.setting(principal, wanted)).change];
  };

  private async setting(principal: Principal, wanted: WantedBudget) {
    const { budgets, clock } = this.ports;
    const spentBefore = await this.requireSettable(principal, wanted);
    const before = await budgets.find(budgetKey(wanted));
    const budget = changed(wanted, principal, before, clock.now());
    const [known] = await budgets.counted([budget]);
    if (known === undefined) throw new Error('A budget was not counted.');
    const isUncounted = before === undefined || !isLimited(before.value);
    const spent = isUncounted ? spentBefore : known.counts.spent;
    const change: CoordinationChange = { kind: 'setBudget', budget, before, ...(isUncounted && { spent }) };
    return { change, counted: { budget, counts: { ...known.counts, spent } } };
  }

  /** Returns the budget of a workspace, if it has one. @throws MusterError FORBIDDEN if the caller has no role in it */
  ofWorkspace(principal: Principal, id: string): Promise<readonly CountedBudget[]> {
    if (roleIn(principal, id) === undefined) throw noRoleIn(id, principal.held_to);
    return this.ports.budgets.limited([budgetKey({ kind: 'workspace', thing_id: id })]);
  }

  /** Returns the budgets of the given nodes, and those of their workspaces in which the caller has a role. */
  holderOf(principal: Principal, seen: readonly StoredNode[]): Promise<readonly CountedBudget[]> {
    const here = seen.flatMap(({ workspace }) => workspace ?? []);
    const workspaces = here.filter((one) => roleIn(principal, one) !== undefined);
    const outermost = workspaces.map((id) => budgetKey({ kind: 'workspace', thing_id: id }));
    return this.ports.budgets.limited([...new Set([...seen.map(keyOfNode), ...outermost])]);
  }

  /** Requires a leader (workspace), manager (task), viewer (run) or owner (to-do). @returns the amount spent */
  private async requireSettable(principal: Principal, { kind, thing_id: id, workspace }: WantedBudget) {
    if (kind === 'workspace') {
      if (id !== workspace)
        throw new MusterError('NOT_FOUND', `The call is for the workspace "${workspace}", not for "${id}".`, {
          field: 'id',
          value: id,
          suggestion: `Use the id "${workspace}", or make the call in the workspace "${id}".`,
        });
      if (!hasRoleIn(principal, workspace, 'leader'))
        throw new MusterError('FORBIDDEN', `Only leaders can set the budget of the workspace "${workspace}".`, {
          field: 'id',
          reason: 'ROLE_TOO_WEAK',
          suggestion: 'Set a budget for one of your tasks, runs or to-dos instead.',
        });
      return NO_AMOUNT;
    }
    const ref = { kind, id };
    const { graph, nodes, tasks } = this.ports;
    const found = await nodes[kind](id, { principal, workspace });
    if (found === undefined) throw nodeNotFound(ref, 'id');
    const task = kind === 'task' ? await readUnreadable((one) => one === workspace, tasks.find(id)) : undefined;
    if (task !== undefined) requireTaskManager(principal, task.value, 'id');
    const [node] = found.value.ancestors === undefined ? [] : await graph.findAll([nodeKey(ref)]);
    return amountOf(node?.totals ?? found.value.spent);
  }
}

function changed(
  { kind, thing_id, workspace, money, tokens }: WantedBudget,
  principal: Principal,
  before: Versioned<Budget> | undefined,
  setAt: Date,
): Budget {
  const { cost_usd: usdBefore = null, tokens: tokensBefore = null, round = 0 } = before?.value ?? {};
  const limit = { cost_usd: orPrevious(money, usdBefore), tokens: orPrevious(tokens, tokensBefore) };
  const limits = {
    ...(limit.cost_usd !== null && { cost_usd: limit.cost_usd }),
    ...(limit.tokens !== null && { tokens: limit.tokens }),
  };
  return {
    kind,
    thing_id,
    ...(kind !== 'todo' && { workspace }),
    owner_uid: principal.owner_uid,
    ...limits,
    ...limitSettersAfter(before?.value, limits, principal),
    round: round + 1,
    set_at: setAt,
  };
}

function orPrevious(wanted: number | null | undefined, before: number | null): number | null {
  return wanted === undefined ? before : wanted;
}
