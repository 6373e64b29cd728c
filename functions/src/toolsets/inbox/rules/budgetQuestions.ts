/** Asks the owner of an exhausted budget to raise it. Source: docs/decisions/0035-graph-and-budgets.md. */
import { type Budget, type BudgetRefusal, budgetKey, raisedLimit, usdOf } from '../../../graph/rules/budget.ts';
import { nodeKey } from '../../../graph/rules/graphNode.ts';
import type { BudgetPorts } from '../../../graph/rules/ports.ts';
import { ignoreStale } from '../../../kernel/concurrency.ts';
import { DAY_MS, Service } from '../../../kernel/ports.ts';
import { changeRequest } from './answering.ts';
import { creationChangeOf } from './asking.ts';
import type { InboxPorts } from './ports.ts';
import { isDue, NEW_REQUEST, type Request, withdrawnRequest } from './request.ts';

const QUESTION_TTL_MS = 30 * DAY_MS;
const ID_LENGTH = 20;

export class BudgetQuestions extends Service<InboxPorts & BudgetPorts> {
  /**
   * Asks at most once for each budget that is set, because the id of the question is derived from the budget. If the
   * person approves, the call that raises the budget runs as that person.
   * @param workspace workspace of the call that the budget refused
   */
  readonly ask = async (refusal: BudgetRefusal, workspace: string): Promise<void> => {
    const { store, clock, requests, idTokens, graph } = this.ports;
    const { budget } = refusal.limitedBy;
    const { kind, thing_id: id, owner_uid } = budget;
    const requestId = this.idOf(budget, budget.round);
    if ((await requests.find(requestId)) !== undefined) return;
    const [node] = kind === 'workspace' ? [] : await graph.findAll([nodeKey({ kind, id })]);
    const name = (await idTokens.profiles([owner_uid])).get(owner_uid)?.name ?? owner_uid;
    const { cost_usd: money, tokens } = raisedLimit(refusal);
    const limits = { ...(money !== undefined && { money }), ...(tokens !== undefined && { tokens }) };
    const now = clock.now();
    const request: Request = {
      ...NEW_REQUEST,
      id: requestId,
      workspace: budget.workspace ?? workspace,
      kind: 'approval',
      question: questionOf(refusal, node?.title),
      asked_by: owner_uid,
      owner_uid,
      asked_of: owner_uid,
      asked_of_name: name,
      created_at: now,
      expires_at: new Date(now.getTime() + QUESTION_TTL_MS),
      call: { tool: 'system.setBudget', arguments: { kind, id, ...limits }, readonly: false },
      in_person: true,
    };
    // The commit is stale if another run has asked the same question at the same time.
    await ignoreStale(store.commit(creationChangeOf(request)));
  };

  /** Returns the id of the question about the current budget with this key; undefined if there is no budget. */
  async requestOf(key: string): Promise<string | undefined> {
    const [limit] = await this.ports.budgets.limited([key]);
    return limit && this.idOf(limit.budget, limit.budget.round);
  }

  /** Withdraws the question about the previous budget after a new budget was set. */
  async withdrawBefore(budget: Budget): Promise<void> {
    const find = () => this.ports.requests.find(this.idOf(budget, budget.round - 1));
    await changeRequest(this.ports, find, (request) => {
      const now = this.ports.clock.now();
      return request.state === 'open' && !isDue(request, now) ? withdrawnRequest(request, now) : undefined;
    });
  }

  private idOf(budget: Budget, round: number): string {
    return `request-${this.ports.hashing.sha256(`${budgetKey(budget)} ${round}`).slice(0, ID_LENGTH)}`;
  }
}

/** @param title title of the item that has the budget, if it has one */
function questionOf(refusal: BudgetRefusal, title: string | undefined): string {
  const { limitedBy, wanted } = refusal;
  const { budget, counts } = limitedBy;
  const { kind, thing_id: id, cost_usd, tokens } = budget;
  const { spent } = counts;
  const limits = [
    ...(cost_usd === undefined ? [] : [`$${usdOf(spent).toFixed(4)} of $${cost_usd}`]),
    ...(tokens === undefined ? [] : [`${spent.tokens} of ${tokens} tokens`]),
  ];
  const what = title === undefined ? `${kind} "${id}"` : `${kind} "${title}"`;
  const isNextKnown = wanted.nano_usd + wanted.tokens > 0;
  const next = isNextKnown ? ` The next call may need up to ${amounts(usdOf(wanted), wanted.tokens, budget)}.` : '';
  const to = raisedLimit(refusal);
  return `The budget of ${what} is too small: ${limits.join(' and ')} are spent.${next} Work that needs this budget is paused. Raise the budget to ${amounts(to.cost_usd, to.tokens)}?`;
}

/** Returns amounts in words, such as `$0.31 and 500 tokens`. @param limits without it, all amounts are limited */
function amounts(usd: number | undefined, tokens: number | undefined, limits?: Pick<Budget, 'cost_usd' | 'tokens'>) {
  const isMoney = usd !== undefined && (limits === undefined || limits.cost_usd !== undefined);
  const isTokens = tokens !== undefined && (limits === undefined || limits.tokens !== undefined);
  return [...(isMoney ? [`$${Number(usd.toFixed(4))}`] : []), ...(isTokens ? [`${tokens} tokens`] : [])].join(' and ');
}
