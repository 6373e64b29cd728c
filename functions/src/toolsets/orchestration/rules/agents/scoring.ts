/**
 * Scores hosted agents by their outcomes per kind of work in a workspace, and selects one agent. The capability in
 * the specification counts like a few outcomes. Newer outcomes count more than older ones. Source:
 * docs/decisions/0034-routing-that-learns.md.
 */
import { z } from 'zod/mini';
import type { KindOfWork } from '../../../../access/rules/workspace.ts';
import { documentCodec } from '../../../../kernel/documentCodec.ts';
import type { Randomness } from '../../../../kernel/ports.ts';

const count = z._default(z.number(), 0);

/** Counts of an agent's outcomes, each of which is either accepted, failed or lost. */
const outcomeStats = z.object({
  /** The agent's answer was used, chosen among several answers, or approved. */
  accepted: count,
  /** The agent returned no usable answer. */
  failed: count,
  /** Another agent's answer was judged better, or a review rejected this agent's answer. */
  lost: count,
  /** Accepted outcomes for which the agent needed more than one attempt. */
  retried: count,
  /** Sum of the outcomes' values, which are from 0 to 1. */
  worth: count,
  milliseconds: count,
  cost_usd: count,
  /** Outcomes whose cost is unknown. */
  unpriced: z.exactOptional(z.number()),
});
export type OutcomeStats = Readonly<z.output<typeof outcomeStats>>;

export interface Outcome extends OutcomeStats {
  readonly agent: string;
  readonly kind: KindOfWork;
}

/** Outcomes for one kind of work, in numbered buckets of about the same number of outcomes, by agent. */
const kindRecord = z.object({
  /** Number of outcomes of all agents, including outcomes in deleted buckets. */
  outcomes: count,
  buckets: z._default(z.record(z.string(), z.record(z.string(), outcomeStats)), {}),
});

/** The document `workspaces/{workspace}/routing/work`: outcome counts by kind of work. */
export const { fromDocument: workFromDocument } = documentCodec(
  z.object({ kinds: z._default(z.record(z.string(), kindRecord), {}) }),
);
export type WorkRecord = ReturnType<typeof workFromDocument>['kinds'];
export type KindRecord = WorkRecord[string];

/** Weight of the capability in the specification, as a number of outcomes. */
export const PRIOR_WEIGHT = 4;

/** Minimum number of outcomes for a kind of work. With fewer outcomes, only the best agent is selected. */
export const FIRST_OUTCOMES = 8;
const BUCKET_OUTCOMES = 10;

/** Weight of a bucket, relative to the next newer bucket. */
const DECAY = 0.85;

/** Number of stored buckets. Even older buckets would have less than a twelfth of the newest bucket's weight. */
const MAX_BUCKETS = 16;

/** Maximum deductions from a score: for the most expensive agent, and for the slowest agent. */
const COST_WEIGHT = 0.03;
const TIME_WEIGHT = 0.02;

/** Variation of the drawn values: at 0, the best agent always wins; at 1, they vary by the scores' full deviation. */
const EXPLORATION = 0.6;
const NOTHING: OutcomeStats = { accepted: 0, failed: 0, lost: 0, retried: 0, worth: 0, milliseconds: 0, cost_usd: 0 };

export interface AgentScore {
  readonly agent: string;
  /** Expected value of the agent's next outcome, from 0 to 1, minus a deduction for the agent's cost and time. */
  readonly score: number;
  readonly deviation: number;
  /** Totals of the stored outcomes, all with equal weight; undefined without outcomes. */
  readonly record: OutcomeStats | undefined;
}

/**
 * Scores the candidates for a kind of work.
 * @param candidates agents with their capability for this kind, from 0 to 1, according to the specification
 * @param record undefined without outcomes for this kind
 */
export function scoresOf(
  candidates: readonly { readonly agent: string; readonly capability: number }[],
  record: KindRecord | undefined,
): readonly AgentScore[] {
  const newest = Math.max(0, ...Object.keys(record?.buckets ?? {}).map(Number));
  const known = candidates.map(({ agent, capability }) => {
    const own = Object.entries(record?.buckets ?? {}).flatMap(([bucket, tallies]) => {
      const tally = tallies[agent];
      const age = newest - Number(bucket);
      return tally === undefined || age >= MAX_BUCKETS ? [] : [{ tally, weight: DECAY ** age }];
    });
    const whole = own.map(({ tally }) => tally).reduce(added, NOTHING);
    const weight = own.reduce((sum, one) => sum + one.weight * outcomesIn(one.tally), 0);
    const worth = own.reduce((sum, one) => sum + one.weight * one.tally.worth, 0);
    const mean = (PRIOR_WEIGHT * capability + worth) / (PRIOR_WEIGHT + weight);
    const deviation = Math.sqrt((mean * (1 - mean)) / (PRIOR_WEIGHT + weight + 1));
    return { agent, mean, deviation, whole, count: outcomesIn(whole) };
  });
  const average = (of: 'cost_usd' | 'milliseconds') => {
    const each = known.map(({ whole, count }) => (count === 0 ? 0 : averageOf(of, whole)));
    const highest = Math.max(...each.map((one) => one ?? 0));
    // An unknown cost counts like the highest one, so that an agent without a price never seems to be cheap.
    return each.map((one) => (one === undefined ? 1 : highest === 0 ? 0 : one / highest));
  };
  const [costs, times] = [average('cost_usd'), average('milliseconds')];
  return known.map(({ agent, mean, deviation, whole, count }, index) => {
    const spent = COST_WEIGHT * (costs[index] ?? 0) + TIME_WEIGHT * (times[index] ?? 0);
    return { agent, score: Math.max(0, mean - spent), deviation, record: count === 0 ? undefined : whole };
  });
}

/**
 * Selects an agent: usually the one with the best score, sometimes one that may be better. For each agent, a random
 * value around its score is drawn, and the highest value wins. The less is known about an agent, the more its value
 * varies.
 * @param standings the agents' scores, best first
 * @param random random source seeded by the run, so that the selection is reproducible
 */
export function chooseByScore(
  standings: readonly AgentScore[],
  record: KindRecord | undefined,
  random: RandomSource,
): AgentScore | undefined {
  if ((record?.outcomes ?? 0) < FIRST_OUTCOMES) return standings[0];
  const drawn = standings.map((standing) => ({
    standing,
    score: standing.score + EXPLORATION * standing.deviation * normal(random),
  }));
  return drawn.toSorted((left, right) => right.score - left.score)[0]?.standing;
}

/** Returns the amounts to add for the outcomes. Concurrent runs may make one bucket larger than the others. */
export function recordedOutcomesOf(record: WorkRecord, outcomes: readonly Outcome[]) {
  return [...new Set(outcomes.map(({ kind }) => kind))].map((kind) => {
    const own = outcomes.filter((outcome) => outcome.kind === kind);
    const before = record[kind];
    const bucket = Math.floor((before?.outcomes ?? 0) / BUCKET_OUTCOMES);
    const buckets = Object.keys(before?.buckets ?? {}).map(Number);
    const tallies: Record<string, OutcomeStats> = {};
    for (const { agent, kind: _, ...tally } of own) tallies[agent] = added(tallies[agent] ?? NOTHING, tally);
    const faded: readonly number[] = buckets.filter((one) => one <= bucket - MAX_BUCKETS);
    return { kind, outcomes: own.length, bucket, tallies, faded };
  });
}

export type RecordedOutcomes = ReturnType<typeof recordedOutcomesOf>[number];

/** Returns an average per outcome; undefined if the cost of every outcome is unknown. */
function averageOf(of: 'cost_usd' | 'milliseconds', stats: OutcomeStats): number | undefined {
  const count = outcomesIn(stats) - (of === 'cost_usd' ? (stats.unpriced ?? 0) : 0);
  return count <= 0 ? undefined : stats[of] / count;
}

export function outcomesIn({ accepted, failed, lost }: OutcomeStats): number {
  return accepted + failed + lost;
}

/** Describes an agent's outcomes, such as `14 of 16 answers for review accepted here, on average 0.8 s and 0.01 USD`. */
export function evidenceOf(record: OutcomeStats, kind: KindOfWork): string {
  const count = outcomesIn(record);
  const seconds = `${round(record.milliseconds / count / 1000, 1)} s`;
  const usd = averageOf('cost_usd', record);
  const cost = usd === undefined ? 'an unknown cost' : `${round(usd, 4)} USD`;
  return `${record.accepted} of ${count} answers for ${kind} accepted here, on average ${seconds} and ${cost}`;
}

export function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

function added(left: OutcomeStats, right: OutcomeStats): OutcomeStats {
  const unpriced = (left.unpriced ?? 0) + (right.unpriced ?? 0);
  return {
    accepted: left.accepted + right.accepted,
    failed: left.failed + right.failed,
    lost: left.lost + right.lost,
    retried: left.retried + right.retried,
    worth: left.worth + right.worth,
    milliseconds: left.milliseconds + right.milliseconds,
    cost_usd: left.cost_usd + right.cost_usd,
    ...(unpriced > 0 && { unpriced }),
  };
}

const DRAWS = 2 ** 32;

/** Uses the Box-Muller transform. */
function normal(random: RandomSource): number {
  const [first, second] = [0, 0].map(() => (random.integer(DRAWS) + 0.5) / DRAWS);
  return Math.sqrt(-2 * Math.log(first ?? 0.5)) * Math.cos(2 * Math.PI * (second ?? 0.5));
}

export interface WorkChanges {
  readonly recordOutcomes: { readonly workspace: string; readonly bookings: readonly RecordedOutcomes[] };
}

export type RandomSource = Pick<Randomness, 'integer'>;
