import type { HostedAgent, Price, Usage } from '../ports.ts';

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0 };

/** In US dollars. */
export function costOf({ inputTokens, outputTokens }: Usage, price: Price): number {
  return (inputTokens * price.inputPerMillion + outputTokens * price.outputPerMillion) / 1_000_000;
}

export function totalUsage(usages: readonly Usage[]): Usage {
  return usages.reduce(
    (sum, { inputTokens, outputTokens }) => ({
      inputTokens: sum.inputTokens + inputTokens,
      outputTokens: sum.outputTokens + outputTokens,
    }),
    NO_USAGE,
  );
}

/** About how many tokens a text is: in English one for every four bytes. Three are taken, to be rather too high. */
export function estimatedTokens(bytes: number): number {
  return Math.ceil(bytes / 3);
}

const FREE: Price = { inputPerMillion: 0, outputPerMillion: 0 };

/** Of the model behind an agent; nothing for one that this deployment no longer has. */
export function priceOf(hosted: readonly HostedAgent[], name: string): Price {
  return hosted.find((agent) => agent.name === name)?.price ?? FREE;
}
