/**
 * Budgets: the most that may be spent on a workspace, or on a thing and all that is part of it. A call of a model
 * reserves the most that it can cost before it is made, and is settled afterwards. Pure.
 * Source: docs/decisions/0035-graph-and-budgets.md.
 */

import { z } from 'zod';
import { documentCodec, timestamp } from '../../kernel/documentCodec.ts';
import { type Loosening, type LooseningOf, neverLoosens } from '../../kernel/loosening.ts';
import type { GraphNode } from './graphNode.ts';

export const BUDGET_KINDS = ['workspace', 'todo', 'task', 'run'] as const;

export type BudgetKind = (typeof BUDGET_KINDS)[number];

/** What has a budget: a workspace by its name, a thing by its id. */
export interface BudgetRef {
  readonly kind: BudgetKind;
  readonly thing_id: string;
}

/** As Firestore names it in `budgets`; of a thing, as the graph does. No kind has a dash. */
export function budgetKey({ kind, thing_id: id }: BudgetRef): string {
  return `${kind}-${id}`;
}

/** Of all budgets that hold for a thing, the keys, its own first and the workspace's last. */
export function budgetKeysOf(
  key: string,
  { ancestors = [], workspace }: Pick<GraphNode, 'ancestors' | 'workspace'>,
): readonly string[] {
  const outermost = workspace === undefined ? [] : [budgetKey({ kind: 'workspace', thing_id: workspace })];
  return [key, ...ancestors, ...outermost];
}

/** Billionths of a US dollar, and tokens in and out together: whole numbers, so that subtracting leaves nothing. */
export interface Amount {
  readonly nano_usd: number;
  readonly tokens: number;
}

const NANO = 1_000_000_000;

export const NOTHING: Amount = { nano_usd: 0, tokens: 0 };

/** What calls have cost, in US dollars, as a budget counts it: never less. */
export function amountOf(spent: {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number;
}): Amount {
  // Of a price for a million tokens what one costs is often no whole number of them; less than one is an error of adding.
  return {
    nano_usd: Math.ceil(Number((spent.cost_usd * NANO).toFixed(3))),
    tokens: spent.input_tokens + spent.output_tokens,
  };
}

export function usdOf({ nano_usd }: Amount): number {
  return nano_usd / NANO;
}

export type Budget = StoredBudget;

export type Reservation = StoredReservation;

/** A budget with what is spent of it, and what calls in flight have reserved. */
export interface CountedBudget {
  readonly budget: Budget;
  readonly counts: StoredCounts;
}

/** A budget that a call does not fit into. */
export interface Refusal {
  readonly by: CountedBudget;
  /** The most that the call can cost; nothing where nobody knows it. */
  readonly wanted: Amount;
  /** False: it would fit if nothing were in flight, and may fit soon. */
  readonly isSpent: boolean;
}

/** Whether there is a limit at all: one that was taken away is kept for the calls that had reserved of it. */
export function isLimited({ cost_usd, tokens }: Pick<Budget, 'cost_usd' | 'tokens'>): boolean {
  return cost_usd !== undefined || tokens !== undefined;
}

/** What somebody has said of a budget, as the trail has it. */
export function limitFields({ cost_usd, tokens }: Pick<Budget, 'cost_usd' | 'tokens'>) {
  return { cost_usd: cost_usd ?? null, tokens: tokens ?? null };
}

/** What stands against a call that may cost so much: what is spent before what is only reserved. */
export function refusalOf(budgets: readonly CountedBudget[], wanted: Amount): Refusal | undefined {
  const spent = budgets.find(({ budget, counts }) => !fits(budget, plus(counts.spent, wanted)));
  if (spent !== undefined) return { by: spent, wanted, isSpent: true };
  const full = budgets.find(
    ({ budget, counts }) => !fits(budget, plus(plus(counts.spent, counts.reserved), wanted)),
  );
  return full && { by: full, wanted, isSpent: false };
}

/** What stands against work of which nobody knows what it will cost: a budget of which nothing is left. */
export function spentOut(budgets: readonly CountedBudget[]): Refusal | undefined {
  const by = budgets.find(({ budget, counts }) => {
    const { nano_usd, tokens } = counts.spent;
    return nano_usd >= limitIn(budget.cost_usd, NANO) || tokens >= limitIn(budget.tokens);
  });
  return by && { by, wanted: NOTHING, isSpent: true };
}

/** For how many such calls a raised budget has room at least. */
const CALLS_RAISED_FOR = 10;

/** The limits that a person is asked to raise, and to what: as much again, and enough for some calls more. */
export function raised({ by: { budget, counts }, wanted }: Refusal): Pick<Budget, 'cost_usd' | 'tokens'> {
  const { cost_usd, tokens } = budget;
  const more = (limit: number, spent: number, one: number) =>
    Math.max(2 * limit, spent + CALLS_RAISED_FOR * Math.max(1, one));
  const [money, usd] = [limitIn(cost_usd, NANO), counts.spent.nano_usd];
  const isMoneyShort = cost_usd !== undefined && usd + Math.max(1, wanted.nano_usd) > money;
  const areTokensShort = tokens !== undefined && counts.spent.tokens + Math.max(1, wanted.tokens) > tokens;
  return {
    ...(isMoneyShort && { cost_usd: Math.ceil((more(money, usd, wanted.nano_usd) / NANO) * 100) / 100 }),
    ...(areTokensShort && { tokens: more(tokens, counts.spent.tokens, wanted.tokens) }),
  };
}

function fits({ cost_usd, tokens }: Budget, amount: Amount): boolean {
  return amount.nano_usd <= limitIn(cost_usd, NANO) && amount.tokens <= limitIn(tokens);
}

function limitIn(limit: number | undefined, unit = 1): number {
  return limit === undefined ? Number.POSITIVE_INFINITY : Math.round(limit * unit);
}

export function plus(left: Amount, right: Amount): Amount {
  return { nano_usd: left.nano_usd + right.nano_usd, tokens: left.tokens + right.tokens };
}

export function minus({ nano_usd, tokens }: Amount): Amount {
  return { nano_usd: -nano_usd, tokens: -tokens };
}

/** What of a budget is neither spent nor reserved; never less than nothing. */
export function leftOf({ budget, counts }: CountedBudget): Pick<Budget, 'cost_usd' | 'tokens'> {
  const used = plus(counts.spent, counts.reserved);
  const { cost_usd, tokens } = budget;
  return {
    ...(cost_usd !== undefined && { cost_usd: Math.max(0, limitIn(cost_usd, NANO) - used.nano_usd) / NANO }),
    ...(tokens !== undefined && { tokens: Math.max(0, tokens - used.tokens) }),
  };
}

/** Whose budget it is, to whoever may not see the thing: of a to-do, which is somebody's own, the kind alone. */
export function budgetName({ kind, thing_id: id }: BudgetRef): string {
  return kind === 'todo' ? 'a to-do' : `${kind} "${id}"`;
}

/** The thing or workspace of a key. */
export function budgetRefOf(key: string): BudgetRef | undefined {
  const kind = BUDGET_KINDS.find((one) => key.startsWith(`${one}-`));
  return kind && { kind, thing_id: key.slice(kind.length + 1) };
}

/** What stands between work and its beginning, in a sentence. */
export function waitsForBudget(key: string): string {
  const ref = budgetRefOf(key);
  return `Waits: the budget of ${ref === undefined ? key : budgetName(ref)} is spent.`;
}

/** What a call waits for that does not fit into a budget. */
export class OutOfBudgetError extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(waitsForBudget(budgetKey(refusal.by.budget)));
    this.name = 'OutOfBudgetError';
    this.refusal = refusal;
  }
}

/** The limits of a budget: the stored field, and the field that stores its setter. */
const LIMITS = [
  ['cost_usd', 'cost_set_by'],
  ['tokens', 'tokens_set_by'],
] as const;

/**
 * Returns who set each limit after a change. Lowering another's limit keeps its setter, so that an agent cannot raise it
 * in two steps; a person who changes a limit becomes its setter.
 */
export function settersAfter(
  before: Budget | undefined,
  after: Pick<Budget, 'cost_usd' | 'tokens'>,
  { uid, kind }: { readonly uid: string; readonly kind: 'agent' | 'person' },
): Pick<Budget, 'cost_set_by' | 'tokens_set_by'> {
  const entries = LIMITS.flatMap(([limit, setBy]) => {
    if (after[limit] === undefined) return [];
    const isKept = before?.[limit] !== undefined && (kind === 'agent' || before[limit] === after[limit]);
    return [[setBy, isKept ? setterOf(before, setBy) : uid]];
  });
  return Object.fromEntries(entries);
}

function setterOf(budget: Budget, setBy: 'cost_set_by' | 'tokens_set_by'): string {
  return budget[setBy] ?? budget.owner_uid;
}

/** A limit that is raised or removed by another agent than the one that set it; its setter decides, or that agent's owner. */
function raisedOf(before: Budget, after: Budget, uid: string): readonly Loosening[] {
  return LIMITS.flatMap(([limit, setBy]) => {
    const [was, is] = [before[limit], after[limit]];
    const setter = setterOf(before, setBy);
    if (was === undefined || (is !== undefined && is <= was) || setter === uid) return [];
    const amount = (of: number) => (limit === 'cost_usd' ? `$${of}` : `${of} tokens`);
    const change = is === undefined ? `remove the budget (${amount(was)})` : 'raise the budget';
    const to = is === undefined ? '' : ` from ${amount(was)} to ${amount(is)}`;
    const would = `${change} of ${budgetName(before)}${to}`;
    return [
      { what: 'budget', would, approver: setter.startsWith('agent:') ? before.owner_uid : setter } as const,
    ];
  });
}

/** How changes of budgets loosen limits. */
export const budgetLoosening: LooseningOf<BudgetChanges> = {
  ...neverLoosens('reserve', 'settle', 'spend'),
  setBudget: ({ budget, before }, { uid }) => (before ? raisedOf(before.value, budget, uid) : []),
};

/** What commits may change of budgets. */
export interface BudgetChanges {
  /** Without `before` there was none. */
  readonly setBudget: {
    readonly budget: Budget;
    readonly before?: { readonly value: Budget; readonly version: string } | undefined;
    /** From which the count begins, where it does: nothing was counted while there was no limit. */
    readonly spent?: Amount | undefined;
  };
  readonly reserve: { readonly reservation: Reservation };
  /** Stale where it is settled already. */
  readonly settle: { readonly reservation: Reservation; readonly spent: Amount };
  /** What was spent without having been reserved. */
  readonly spend: { readonly keys: readonly string[]; readonly spent: Amount };
}

export const { toDocument: budgetToDocument, fromDocument: budgetFromDocument } = documentCodec(
  z.object({
    kind: z.enum(BUDGET_KINDS),
    /** The name of the workspace, or the id of the thing. */
    thing_id: z.string(),
    /** Where it holds; null for a to-do. */
    workspace: z.string().nullable(),
    /** The person for whom it was set, who is asked when it is spent. */
    owner_uid: z.string(),
    /** US dollars; null: no limit. */
    cost_usd: z.number().nullable(),
    /** Of input and output together; null: no limit. */
    tokens: z.int().nullable(),
    /** The uid of the person or agent that set each limit; null without the limit. */
    cost_set_by: z.string().nullable(),
    tokens_set_by: z.string().nullable(),
    /** Counts what was set: a person is asked once for each. */
    round: z.int(),
    set_at: timestamp,
  }),
);

export type StoredBudget = ReturnType<typeof budgetFromDocument>;

/** Whole numbers; of money billionths of a US dollar. */
const amount = z.object({ nano_usd: z.int().default(0), tokens: z.int().default(0) });
const zero = { nano_usd: 0, tokens: 0 };
export const { fromDocument: countsFromDocument } = documentCodec(
  z.object({ spent: amount.default(zero), reserved: amount.default(zero) }),
);

export type StoredCounts = ReturnType<typeof countsFromDocument>;

export const { toDocument: reservationToDocument, fromDocument: reservationFromDocument } = documentCodec(
  z.object({
    id: z.string(),
    /** The budgets of which it is. */
    keys: z.array(z.string()),
    amount,
    /** The call is over by then, whatever became of it. */
    due_at: timestamp,
  }),
);

export type StoredReservation = ReturnType<typeof reservationFromDocument>;

const amountShape = z.object({ money: z.number().describe('US dollars.'), tokens: z.int() });

const limitShape = amountShape.partial();

export const budgetShape = z.object({
  kind: z.enum(BUDGET_KINDS),
  id: z.string(),
  limit: limitShape.describe('Without either there is none.'),
  spent: amountShape,
  reserved: amountShape.describe('The most that calls in flight may cost.'),
  left: limitShape,
});

export function budgetAnswer(counted: CountedBudget): z.output<typeof budgetShape> {
  const { budget, counts } = counted;
  const { kind, thing_id: id } = budget;
  return {
    kind,
    id,
    limit: limitAnswer(budget),
    spent: { money: usdOf(counts.spent), tokens: counts.spent.tokens },
    reserved: { money: usdOf(counts.reserved), tokens: counts.reserved.tokens },
    left: limitAnswer(leftOf(counted)),
  };
}

function limitAnswer({ cost_usd, tokens }: Pick<CountedBudget['budget'], 'cost_usd' | 'tokens'>) {
  return { ...(cost_usd !== undefined && { money: cost_usd }), ...(tokens !== undefined && { tokens }) };
}
