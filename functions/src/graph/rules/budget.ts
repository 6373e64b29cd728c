/**
 * Budgets limit the spending of a workspace, or of an item with all its parts. Before a model call, its maximum cost
 * is reserved. After the call, the reservation is replaced by the actual cost. Source:
 * docs/decisions/0035-graph-and-budgets.md.
 */
import { z } from 'zod';
import { documentCodec, timestamp } from '../../kernel/documentCodec.ts';
import { type Loosening, type LooseningOf, noLoosening } from '../../kernel/loosening.ts';
import type { GraphNode, Usage } from './graphNode.ts';

export const BUDGET_KINDS = ['workspace', 'todo', 'task', 'run'] as const;
export type BudgetKind = (typeof BUDGET_KINDS)[number];

/** Subject of a budget: a workspace, given by its name, or an item, given by its id. */
export interface BudgetRef {
  readonly kind: BudgetKind;
  readonly thing_id: string;
}

/** Returns the id of a budget document. For an item, it is the item's key in the graph. Kinds contain no dash. */
export function budgetKey({ kind, thing_id: id }: BudgetRef): string {
  return `${kind}-${id}`;
}

/** Returns the keys of all budgets that apply to an item: its own, those of its ancestors, and the workspace's. */
export function budgetKeysOf(
  key: string,
  { ancestors = [], workspace }: Pick<GraphNode, 'ancestors' | 'workspace'>,
): readonly string[] {
  const outermost = workspace === undefined ? [] : [budgetKey({ kind: 'workspace', thing_id: workspace })];
  return [key, ...ancestors, ...outermost];
}

/** Money in billionths of a US dollar, and tokens (input plus output). Integers make subtraction exact. */
const amount = z.object({ nano_usd: z.int().default(0), tokens: z.int().default(0) });
export type Amount = Readonly<z.output<typeof amount>>;

const NANO = 1_000_000_000;
export const NO_AMOUNT: Amount = { nano_usd: 0, tokens: 0 };

/** Converts usage to an amount. A cost in US dollars is rounded up. */
export function amountOf(spent: Omit<Usage, 'milliseconds'>): Amount {
  // Prices can have thousandths of a nano-dollar per token. Smaller fractions are floating-point errors.
  return {
    nano_usd: Math.ceil(Number((spent.cost_usd * NANO).toFixed(3))),
    tokens: spent.input_tokens + spent.output_tokens,
  };
}

export function usdOf({ nano_usd }: Amount): number {
  return nano_usd / NANO;
}

export interface CountedBudget {
  readonly budget: Budget;
  readonly counts: ReturnType<typeof countsFromDocument>;
}

export interface BudgetRefusal {
  readonly limitedBy: CountedBudget;
  /** Maximum cost of the call; zero if the cost is unknown. */
  readonly wanted: Amount;
  /** Whether nothing is left. If false, running calls have reserved the rest, and the call may be possible later. */
  readonly isExhausted: boolean;
}

/** Returns whether a budget has a limit. A budget without a limit is kept for calls that have reserved from it. */
export function isLimited({ cost_usd, tokens }: BudgetLimits): boolean {
  return cost_usd !== undefined || tokens !== undefined;
}

/** Returns the limits of a budget, as the audit log stores them. */
export function limitFields({ cost_usd, tokens }: BudgetLimits) {
  return { cost_usd: cost_usd ?? null, tokens: tokens ?? null };
}

/** Returns the first budget that a call with this maximum cost would exceed. Exhausted budgets are preferred. */
export function budgetRefusalOf(budgets: readonly CountedBudget[], wanted: Amount): BudgetRefusal | undefined {
  const spent = budgets.find(({ budget, counts }) => !fitsLimit(budget, plus(counts.spent, wanted)));
  if (spent !== undefined) return { limitedBy: spent, wanted, isExhausted: true };
  const full = budgets.find(
    ({ budget, counts }) => !fitsLimit(budget, plus(plus(counts.spent, counts.reserved), wanted)),
  );
  return full && { limitedBy: full, wanted, isExhausted: false };
}

/** Returns the first budget that is exhausted, for work whose cost is unknown. */
export function exhaustedBudget(budgets: readonly CountedBudget[]): BudgetRefusal | undefined {
  const limitedBy = budgets.find(({ budget, counts }) => {
    const { nano_usd, tokens } = counts.spent;
    return nano_usd >= limitIn(budget.cost_usd, NANO) || tokens >= limitIn(budget.tokens);
  });
  return limitedBy && { limitedBy, wanted: NO_AMOUNT, isExhausted: true };
}

/** If a raise is proposed, the new limit covers at least this number of calls. */
const CALLS_PER_RAISE = 10;

/** Returns the limits that a person is asked to set: at least double, and enough for several more calls. */
export function raisedLimit({ limitedBy: { budget, counts }, wanted }: BudgetRefusal): BudgetLimits {
  const { cost_usd, tokens } = budget;
  const more = (limit: number, spent: number, one: number) =>
    Math.max(2 * limit, spent + CALLS_PER_RAISE * Math.max(1, one));
  const [money, usd] = [limitIn(cost_usd, NANO), counts.spent.nano_usd];
  const isMoneyShort = cost_usd !== undefined && usd + Math.max(1, wanted.nano_usd) > money;
  const areTokensShort = tokens !== undefined && counts.spent.tokens + Math.max(1, wanted.tokens) > tokens;
  return {
    ...(isMoneyShort && { cost_usd: Math.ceil((more(money, usd, wanted.nano_usd) / NANO) * 100) / 100 }),
    ...(areTokensShort && { tokens: more(tokens, counts.spent.tokens, wanted.tokens) }),
  };
}

function fitsLimit({ cost_usd, tokens }: Budget, amount: Amount): boolean {
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

/** Returns the part of a budget that is neither spent nor reserved. It is never negative. */
export function remainingOf({ budget, counts }: CountedBudget): BudgetLimits {
  const used = plus(counts.spent, counts.reserved);
  const { cost_usd, tokens } = budget;
  return {
    ...(cost_usd !== undefined && { cost_usd: Math.max(0, limitIn(cost_usd, NANO) - used.nano_usd) / NANO }),
    ...(tokens !== undefined && { tokens: Math.max(0, tokens - used.tokens) }),
  };
}

/** Returns the name to display for a budget's subject. To-dos are private, so only their kind is displayed. */
export function budgetName({ kind, thing_id: id }: BudgetRef): string {
  return kind === 'todo' ? 'a to-do' : `${kind} "${id}"`;
}

/** Returns the item or workspace that a budget key stands for. */
export function budgetRefOf(key: string): BudgetRef | undefined {
  const kind = BUDGET_KINDS.find((one) => key.startsWith(`${one}-`));
  return kind && { kind, thing_id: key.slice(kind.length + 1) };
}

/** Returns a sentence that states which budget an item waits for. */
export function waitsForBudget(key: string): string {
  const ref = budgetRefOf(key);
  return `Waiting: the budget of ${ref === undefined ? key : budgetName(ref)} is exhausted.`;
}

/** Thrown if a call exceeds a budget. The work then waits until the budget allows the call. */
export class BudgetExhaustedError extends Error {
  readonly refusal: BudgetRefusal;

  constructor(refusal: BudgetRefusal) {
    super(waitsForBudget(budgetKey(refusal.limitedBy.budget)));
    this.name = 'OutOfBudgetError';
    this.refusal = refusal;
  }
}

/** For each limit of a budget: the field of the limit, and the field with the uid of the caller that set it. */
const LIMITS = [
  ['cost_usd', 'cost_set_by'],
  ['tokens', 'tokens_set_by'],
] as const;

/**
 * Returns who set each limit after a change. A person who changes a limit becomes its setter. If an agent changes a
 * limit, the setter stays the same, so that an agent cannot lower a limit and then raise it again as its setter.
 */
export function limitSettersAfter(
  before: Budget | undefined,
  after: BudgetLimits,
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

/** Returns the limits that a caller other than their setter raises or removes. The setter must approve this. */
function raisedOf(before: Budget, after: Budget, uid: string): readonly Loosening[] {
  return LIMITS.flatMap(([limit, setBy]) => {
    const [was, is] = [before[limit], after[limit]];
    const setter = setterOf(before, setBy);
    if (was === undefined || (is !== undefined && is <= was) || setter === uid) return [];
    const amount = (of: number) => (limit === 'cost_usd' ? `$${of}` : `${of} tokens`);
    const change = is === undefined ? `remove the budget (${amount(was)})` : 'raise the budget';
    const to = is === undefined ? '' : ` from ${amount(was)} to ${amount(is)}`;
    const would = `${change} of ${budgetName(before)}${to}`;
    return [{ what: 'budget', would, approver: setter.startsWith('agent:') ? before.owner_uid : setter } as const];
  });
}

export const budgetLoosening: LooseningOf<BudgetChanges> = {
  ...noLoosening('reserve', 'settle', 'spend'),
  setBudget: ({ budget, before }, { uid }) => (before ? raisedOf(before.value, budget, uid) : []),
};

export interface BudgetChanges {
  /** `before` is the previous budget, or undefined if this is the first one. */
  readonly setBudget: {
    readonly budget: Budget;
    readonly before?: { readonly value: Budget; readonly version: string } | undefined;
    /** For a new budget, the amount that was spent before, because costs are not counted while no budget exists. */
    readonly spent?: Amount | undefined;
  };
  readonly reserve: { readonly reservation: Reservation };
  /** Replaces a reservation by the actual cost. Stale if the reservation was replaced already. */
  readonly settle: { readonly reservation: Reservation; readonly spent: Amount };
  /** Adds the cost of calls that reserved nothing. */
  readonly spend: { readonly keys: readonly string[]; readonly spent: Amount };
}

export const { toDocument: budgetToDocument, fromDocument: budgetFromDocument } = documentCodec(
  z.object({
    kind: z.enum(BUDGET_KINDS),
    /** Name of the workspace, or id of the item. */
    thing_id: z.string(),
    /** Workspace of the item; null if the item is a to-do. */
    workspace: z.string().nullable(),
    /** Person who is asked to raise the budget when it is exhausted. */
    owner_uid: z.string(),
    /** Limit in US dollars; null for no limit. */
    cost_usd: z.number().nullable(),
    /** Limit of input plus output tokens; null for no limit. */
    tokens: z.int().nullable(),
    /** Uid of the person or agent that set the limit; null if there is no limit. */
    cost_set_by: z.string().nullable(),
    tokens_set_by: z.string().nullable(),
    /** Number of times that the budget was set. After each time, the person is asked at most once to raise it. */
    round: z.int(),
    set_at: timestamp,
  }),
);

export type Budget = ReturnType<typeof budgetFromDocument>;
type BudgetLimits = Pick<Budget, 'cost_usd' | 'tokens'>;

export const { fromDocument: countsFromDocument } = documentCodec(
  z.object({ spent: amount.default(NO_AMOUNT), reserved: amount.default(NO_AMOUNT) }),
);

export const { toDocument: reservationToDocument, fromDocument: reservationFromDocument } = documentCodec(
  z.object({
    id: z.string(),
    keys: z.array(z.string()),
    amount,
    /** Time at which the call has certainly ended, even if its instance crashed. */
    due_at: timestamp,
  }),
);

export type Reservation = ReturnType<typeof reservationFromDocument>;
const amountShape = z.object({ money: z.number().describe('US dollars.'), tokens: z.int() });
const limitShape = amountShape.partial();

export const budgetShape = z.object({
  kind: z.enum(BUDGET_KINDS),
  id: z.string(),
  limit: limitShape.describe('Empty if there is no limit.'),
  spent: amountShape,
  reserved: amountShape.describe('Maximum cost of running calls.'),
  left: limitShape,
});

export function budgetResponse(counted: CountedBudget): z.output<typeof budgetShape> {
  const { budget, counts } = counted;
  const { kind, thing_id: id } = budget;
  return {
    kind,
    id,
    limit: limitResponse(budget),
    spent: { money: usdOf(counts.spent), tokens: counts.spent.tokens },
    reserved: { money: usdOf(counts.reserved), tokens: counts.reserved.tokens },
    left: limitResponse(remainingOf(counted)),
  };
}

function limitResponse({ cost_usd, tokens }: BudgetLimits) {
  return { ...(cost_usd !== undefined && { money: cost_usd }), ...(tokens !== undefined && { tokens }) };
}
