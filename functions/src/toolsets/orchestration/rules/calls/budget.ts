/**
 * Remaining budget of a run. A call reserves its maximum cost before it starts, and records its actual cost when it
 * ends. Therefore concurrent calls never use the same part of the budget.
 */
import { exactUsd } from '../../../../graph/rules/graphNode.ts';
import type { AgentProfile, Price, Usage } from '../agents/model.ts';

interface Spending {
  readonly usage: Usage;
  readonly cost_usd: number;
  /** Tokens whose cost is unknown. `cost_usd` does not contain it. */
  readonly unpriced_tokens?: number;
}

export interface Reservation {
  readonly max_output_tokens: number;
  /**
   * Records the cost of the call and releases the rest of the reservation.
   * @param usage usage that the vendor counted; undefined if unknown: the vendor may have billed the call, so its
   * maximum cost stays reserved
   */
  complete(usage: Usage | undefined): Spending;
}

export const NO_USAGE: Usage = { input_tokens: 0, output_tokens: 0 };
const NOTHING: Spending = { usage: NO_USAGE, cost_usd: 0 };

/**
 * Minimum output tokens of a call, unless its step requests fewer. Thinking models need at least 1,024 tokens before
 * they write the first word. Source: https://platform.claude.com/docs/en/build-with-claude/extended-thinking
 */
export const MIN_OUTPUT_TOKENS = 2048;

export class RunBudget {
  /** Tokens are input and output tokens together. */
  private readonly limit: { readonly tokens?: number | undefined; readonly cost_usd?: number | undefined };
  /** Usage and cost that this execution and earlier executions of the run have recorded. */
  spent: Spending;
  private reservedTokens = 0;
  private reservedUsd = 0;

  constructor(limit: RunBudget['limit'], spent: Spending = NOTHING) {
    this.limit = { tokens: limit.tokens, cost_usd: dollarLimit(limit) };
    this.spent = spent;
  }

  /**
   * Reserves the maximum cost of a call.
   * @param planned estimated input and wanted output; `sharedBy` is the number of concurrent calls including this one
   * @returns undefined if the rest of the budget is too small for an answer
   */
  reserve(planned: {
    readonly input_tokens: number;
    readonly max_output_tokens: number;
    readonly price: Price | undefined;
    readonly sharedBy: number;
  }): Reservation | undefined {
    const { input_tokens, max_output_tokens, price, sharedBy } = planned;
    if (price === undefined && this.isInDollars) return undefined;
    const max = Math.floor(
      Math.min(
        max_output_tokens,
        this.tokensLeft(sharedBy) - input_tokens,
        outputFor(this.usdLeft(sharedBy) - costOf({ input_tokens, output_tokens: 0 }, price), price),
      ),
    );
    if (max < Math.min(MIN_OUTPUT_TOKENS, max_output_tokens)) return undefined;
    const reservedUsd = costOf({ input_tokens, output_tokens: max }, price);
    this.reservedTokens += input_tokens + max;
    this.reservedUsd += reservedUsd;
    return {
      max_output_tokens: max,
      complete: (usage) => {
        if (usage === undefined) return NOTHING;
        const spending = spendingOf(usage, price);
        this.reservedTokens -= input_tokens + max;
        this.reservedUsd -= reservedUsd;
        const { cost_usd: bookedUsd, usage: booked } = this.spent;
        this.spent = {
          usage: {
            input_tokens: booked.input_tokens + usage.input_tokens,
            output_tokens: booked.output_tokens + usage.output_tokens,
          },
          cost_usd: exactUsd(bookedUsd + spending.cost_usd),
        };
        return spending;
      },
    };
  }

  describe(): string {
    const parts = [
      ...(this.limit.tokens === undefined ? [] : [`${Math.max(0, Math.floor(this.tokensLeft()))} tokens`]),
      ...(this.limit.cost_usd === undefined ? [] : [`${Math.max(0, this.usdLeft()).toFixed(4)} US dollars`]),
    ];
    return parts.length === 0 ? 'no limit' : parts.join(' and ');
  }

  private tokensLeft(sharedBy = 1): number {
    const { input_tokens, output_tokens } = this.spent.usage;
    return share(this.limit.tokens, input_tokens + output_tokens, this.reservedTokens, sharedBy);
  }

  /** Whether the budget limits US dollars, and therefore refuses agents without a price. */
  get isInDollars(): boolean {
    return this.limit.cost_usd !== undefined;
  }

  private usdLeft(sharedBy = 1): number {
    return share(this.limit.cost_usd, this.spent.cost_usd, this.reservedUsd, sharedBy);
  }
}

/** Returns one call's share of the unspent amount, but at most the amount that other calls have not reserved. */
function share(limit: number | undefined, spent: number, reserved: number, sharedBy: number): number {
  const unbooked = (limit ?? Number.POSITIVE_INFINITY) - spent;
  return Math.min(unbooked / sharedBy, unbooked - reserved);
}

function outputFor(usd: number, price: Price | undefined): number {
  if (price === undefined) return Number.POSITIVE_INFINITY;
  const { outputPerMillion } = price;
  if (outputPerMillion === 0) return usd < 0 ? 0 : Number.POSITIVE_INFINITY;
  return (usd / outputPerMillion) * 1_000_000;
}

/** Limit of a run without a limit in US dollars. It is a number, because earlier versions read a number. */
export const NO_DOLLAR_LIMIT = 1_000_000_000;

/** Returns the limit of a run's budget in US dollars; undefined if the run has none. */
export function dollarLimit({ cost_usd }: { readonly cost_usd?: number | undefined }): number | undefined {
  return cost_usd === undefined || cost_usd >= NO_DOLLAR_LIMIT ? undefined : cost_usd;
}

/** Returns why a budget in US dollars refuses an agent. */
export function noPrice(agent: string): string {
  return `No price for "${agent}" in models.json, so a budget in US dollars cannot cover it.`;
}

/** Returns the cost in US dollars that the vendor reported, or the cost at this price; unknown without either. */
export function spendingOf(usage: Usage, price: Price | undefined): Spending {
  const { input_tokens, output_tokens, cost_usd } = usage;
  if (cost_usd !== undefined) return { usage, cost_usd };
  const tokens = input_tokens + output_tokens;
  if (price !== undefined || tokens === 0) return { usage, cost_usd: costOf(usage, price) };
  return { usage, cost_usd: 0, unpriced_tokens: tokens };
}

/** Returns the cost in US dollars; 0 without a price. */
export function costOf({ input_tokens, output_tokens }: Usage, price: Price | undefined): number {
  if (price === undefined) return 0;
  return exactUsd((input_tokens * price.inputPerMillion + output_tokens * price.outputPerMillion) / 1_000_000);
}

/** Estimated tokens, in tenths: per ASCII character of each kind and, for all other characters, per UTF-8 byte. */
const TENTHS = { space: 3, letter: 4, sign: 10, byte: 5 } as const;

/**
 * Estimates the number of tokens in a text. The estimate is high on purpose, because newer models count up to a third
 * more tokens than older models. A token has three or four characters in English, one or two in code and JSON.
 */
export function estimatedTokens(text: string): number {
  let tenths = 0;
  for (let index = 0; index < text.length; index++) tenths += tenthsOf(text.charCodeAt(index));
  return Math.ceil(tenths / 10);
}

/** @param unit a UTF-16 code unit; each half of a surrogate pair counts as two UTF-8 bytes */
function tenthsOf(unit: number): number {
  if (unit > 0x7f) return TENTHS.byte * (unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 2 : 3);
  if (unit <= 0x20) return TENTHS.space;
  return unit >= 0x61 && unit <= 0x7a ? TENTHS.letter : TENTHS.sign;
}

/** Returns the price of an agent's model; undefined if it is unknown, or if models.json no longer has the agent. */
export function priceOf(hosted: readonly AgentProfile[], name: string): Price | undefined {
  return hosted.find((agent) => agent.name === name)?.price;
}
