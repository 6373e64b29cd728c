/** Asks the owner of an exhausted budget to raise it. Source: docs/decisions/0035-graph-and-budgets.md. */
import { type Budget, type BudgetRefusal, budgetKey, raisedLimit, usdOf } from '../../../graph/rules/budget.ts';
import { StaleWriteError } from '../../../kernel/commit.ts';
import { retryOnConflict } from '../../../kernel/concurrency.ts';
import { DAY_MS, Service } from '../../../kernel/ports.ts';
import { creationChangeOf } from './asking.ts';
import type { InboxPorts } from './ports.ts';
import { isDue, NEW_REQUEST, type Request, withdrawnRequest } from './request.ts';

const QUESTION_TTL_MS = 30 * DAY_MS;

const ID_LENGTH = 20;

export class BudgetQuestions extends Service<InboxPorts> {
  /**
   * Asks at most once for each budget that is set, because the id of the question is derived from the budget. If the
   * person approves, the call that raises the budget runs as that person.
   * @param workspace workspace of the call that the budget refused
   */
  readonly ask = async (refusal: BudgetRefusal, workspace: string): Promise<void> => {
    const { store, clock, requests, idTokens } = this.ports;
    const { budget } = refusal.limitedBy;
    const { kind, thing_id: id, owner_uid } = budget;
    const requestId = this.idOf(budget, budget.round);
    if ((await requests.find(requestId)) !== undefined) return;
    const name = (await idTokens.profiles([owner_uid])).get(owner_uid)?.name ?? owner_uid;
    const { cost_usd: money, tokens } = raisedLimit(refusal);
    const limits = { ...(money !== undefined && { money }), ...(tokens !== undefined && { tokens }) };
    const now = clock.now();
    const request: Request = {
      ...NEW_REQUEST,
      id: requestId,
      workspace: budget.workspace ?? workspace,
      kind: 'approval',
      question: questionOf(refusal),
      asked_by: owner_uid,
      owner_uid,
      asked_of: owner_uid,
      asked_of_name: name,
      created_at: now,
      expires_at: new Date(now.getTime() + QUESTION_TTL_MS),
      call: { tool: 'system.setBudget', arguments: { kind, id, ...limits }, readonly: false },
      in_person: true,
    };
    try {
      await store.commit(creationChangeOf(request));
    } catch (error) {
      // Another run has asked the same question at the same time.
      if (!(error instanceof StaleWriteError)) throw error;
    }
  };

  /** Withdraws the question about the previous budget after a new budget was set. */
  withdrawBefore(budget: Budget): Promise<void> {
    const { store, clock, randomness, requests } = this.ports;
    return retryOnConflict(randomness, async () => {
      const found = await requests.find(this.idOf(budget, budget.round - 1));
      const now = clock.now();
      if (found?.value.state !== 'open' || isDue(found.value, now)) return;
      const { value: before, version } = found;
      await store.commit([{ kind: 'replaceRequest', request: withdrawnRequest(before, now), before, version }]);
    });
  }

  private idOf(budget: Budget, round: number): string {
    return `request-${this.ports.hashing.sha256(`${budgetKey(budget)} ${round}`).slice(0, ID_LENGTH)}`;
  }
}

function questionOf(refusal: BudgetRefusal): string {
  const { limitedBy, wanted } = refusal;
  const { budget, counts } = limitedBy;
  const { kind, thing_id: id, cost_usd, tokens } = budget;
  const to = raisedLimit(refusal);
  const amounts = (usd: number | undefined, count: number | undefined) =>
    [...(usd === undefined ? [] : [`$${usd.toFixed(4)}`]), ...(count === undefined ? [] : [`${count} tokens`])].join(
      ' and ',
    );
  const has = (spent: number, limit: number | undefined) => (limit === undefined ? undefined : spent);
  const limit = amounts(cost_usd, tokens);
  const spent = amounts(has(usdOf(counts.spent), cost_usd), has(counts.spent.tokens, tokens));
  const next = amounts(has(usdOf(wanted), cost_usd), has(wanted.tokens, tokens));
  const need = wanted.nano_usd + wanted.tokens > 0 ? ` The next call may need up to ${next}.` : '';
  return `The budget of ${kind} "${id}" is too small: ${spent} of ${limit} spent.${need} Work that needs this budget is paused. Raise the budget to ${amounts(to.cost_usd, to.tokens)}?`;
}
