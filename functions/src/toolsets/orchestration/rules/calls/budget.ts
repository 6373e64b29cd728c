/**
 * What a run may still spend. A call reserves the most that it can cost before it is made, and books what it did
 * cost afterwards; calls in flight at once therefore never reserve the same tokens.
 */
import { exactUsd } from '../../../../graph/rules/graphNode.ts';
import type { HostedAgent, Price, Usage } from '../agents/model.ts';

interface Spending {
  readonly usage: Usage;
  readonly cost_usd: number;
}

export interface Reservation {
  /** As many output tokens as the call may ask for. */
  readonly max_output_tokens: number;
  /**
   * Books what the call cost and gives back the rest.
   * @param usage what the vendor counted; undefined where that is unknown: nothing is booked then, and all stays
   * reserved, since it may have been billed
   * @returns what was booked
   */
  complete(usage: Usage | undefined): Spending;
}

export const NO_USAGE: Usage = { input_tokens: 0, output_tokens: 0 };

const NOTHING: Spending = { usage: NO_USAGE, cost_usd: 0 };

/**
 * With fewer output tokens no call is made, unless its step asks for fewer: a thinking model takes 1,024 or more before
 * the first word. Source: https://platform.claude.com/docs/en/build-with-claude/extended-thinking
 */
export const LEAST_OUTPUT_TOKENS = 2048;

export class Budget {
  /** Tokens of input and output together, and US dollars. */
  private readonly limit: { readonly tokens?: number | undefined; readonly cost_usd?: number | undefined };
  /** All that has been booked, by this execution and those before it. */
  spent: Spending;
  private reservedTokens = 0;
  private reservedUsd = 0;

  /** @param spent by earlier executions of the same run */
  constructor(limit: Budget['limit'], spent: Spending = NOTHING) {
    this.limit = limit;
    this.spent = spent;
  }

  /**
   * @param planned with an estimate of its input, and among how many calls at once, this one included, what is left
   * is shared
   * @returns undefined where too little is left for an answer
   */
  reserve(planned: {
    readonly input_tokens: number;
    readonly max_output_tokens: number;
    readonly price: Price;
    readonly sharedBy: number;
  }): Reservation | undefined {
    const { input_tokens, max_output_tokens, price, sharedBy } = planned;
    const most = Math.floor(
      Math.min(
        max_output_tokens,
        this.tokensLeft(sharedBy) - input_tokens,
        outputFor(this.usdLeft(sharedBy) - costOf({ input_tokens, output_tokens: 0 }, price), price),
      ),
    );
    if (most < Math.min(LEAST_OUTPUT_TOKENS, max_output_tokens)) return undefined;
    const reservedUsd = costOf({ input_tokens, output_tokens: most }, price);
    this.reservedTokens += input_tokens + most;
    this.reservedUsd += reservedUsd;
    return {
      max_output_tokens: most,
      complete: (usage) => {
        if (usage === undefined) return NOTHING;
        const costUsd = costOf(usage, price);
        this.reservedTokens -= input_tokens + most;
        this.reservedUsd -= reservedUsd;
        const { cost_usd: bookedUsd, usage: booked } = this.spent;
        this.spent = {
          usage: {
            input_tokens: booked.input_tokens + usage.input_tokens,
            output_tokens: booked.output_tokens + usage.output_tokens,
          },
          cost_usd: exactUsd(bookedUsd + costUsd),
        };
        return { usage, cost_usd: costUsd };
      },
    };
  }

  /** What can still be reserved, said in words. */
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

  private usdLeft(sharedBy = 1): number {
    return share(this.limit.cost_usd, this.spent.cost_usd, this.reservedUsd, sharedBy);
  }
}

/** An equal part of what is not booked, as far as others have left it. */
function share(limit: number | undefined, booked: number, reserved: number, sharedBy: number): number {
  const unbooked = (limit ?? Number.POSITIVE_INFINITY) - booked;
  return Math.min(unbooked / sharedBy, unbooked - reserved);
}

function outputFor(usd: number, { outputPerMillion }: Price): number {
  if (outputPerMillion === 0) return usd < 0 ? 0 : Number.POSITIVE_INFINITY;
  return (usd / outputPerMillion) * 1_000_000;
}

/** In US dollars. */
export function costOf({ input_tokens, output_tokens }: Usage, price: Price): number {
  return exactUsd(
    (input_tokens * price.inputPerMillion + output_tokens * price.outputPerMillion) / 1_000_000,
  );
}

/** Tenths of a token in one character of ASCII, and in one byte of UTF-8 of any other character. */
const TENTHS = { space: 3, letter: 4, sign: 10, byte: 5 } as const;

/**
 * Estimates the tokens of a text, not too low: newer models make a third more tokens of the same text than older ones.
 * In English a token has three to four characters, in code, JSON and identifiers one or two.
 */
export function estimatedTokens(text: string): number {
  let tenths = 0;
  for (let index = 0; index < text.length; index++) tenths += tenthsOf(text.charCodeAt(index));
  return Math.ceil(tenths / 10);
}

/** @param unit of UTF-16: half of a surrogate pair has two bytes of UTF-8 */
function tenthsOf(unit: number): number {
  if (unit > 0x7f) return TENTHS.byte * (unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 2 : 3);
  if (unit <= 0x20) return TENTHS.space;
  return unit >= 0x61 && unit <= 0x7a ? TENTHS.letter : TENTHS.sign;
}

const FREE: Price = { inputPerMillion: 0, outputPerMillion: 0 };

/** Of the model behind an agent; nothing for one that this deployment no longer has. */
export function priceOf(hosted: readonly HostedAgent[], name: string): Price {
  return hosted.find((agent) => agent.name === name)?.price ?? FREE;
}
