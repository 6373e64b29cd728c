/**
 * Scores hosted agents by their outcomes per kind of work in a workspace, and selects one. The specification's
 * capability counts as a few outcomes. Older outcomes decay, so that changes in an agent's quality are noticed.
 * Source: docs/decisions/0034-routing-that-learns.md.
 */

import type { KindOfWork } from '../../../../access/rules/workspace.ts';
import type { Randomness } from '../../../../kernel/ports.ts';

/** An agent's outcome counts. `accepted`, `failed` and `lost` add up to the total. */
export interface OutcomeStats {
  /** The answer was used, won, or was approved. */
  readonly accepted: number;
  /** The agent returned no usable answer. */
  readonly failed: number;
  /** Another answer was judged better, or a review rejected this one. */
  readonly lost: number;
  /** Accepted outcomes that needed a retry. */
  readonly retried: number;
  /** Sum of the outcomes' values, each from 0 to 1. */
  readonly worth: number;
  readonly milliseconds: number;
  readonly cost_usd: number;
}

/** Outcome of one agent's work in one step. */
export interface Outcome extends OutcomeStats {
  readonly agent: string;
  readonly kind: KindOfWork;
}

type Tallies = Readonly<Record<string, OutcomeStats>>;

/** Outcomes of a kind of work, in buckets of about the same size, keyed by bucket number. */
export interface KindRecord {
  /** Number of outcomes of all agents, including dropped buckets. */
  readonly outcomes: number;
  readonly buckets: Readonly<Record<string, Tallies>>;
}

/** Keyed by kind of work. */
export type WorkRecord = Readonly<Record<string, KindRecord>>;

/** Weight of the specification's capability, in outcomes. */
export const PRIOR_WEIGHT = 4;

/** Outcomes of a kind required before any agent other than the best is tried. */
export const FIRST_OUTCOMES = 8;

const BUCKET_OUTCOMES = 10;

/** Weight of a bucket relative to the next newer one. */
const DECAY = 0.85;

/** Number of buckets kept. Older ones count less than a twelfth. */
const MAX_BUCKETS = 16;

/** Score deduction for the most expensive and the slowest agent, relative to one that is free and instant. */
const COST_WEIGHT = 0.03;
const TIME_WEIGHT = 0.02;

/** Exploration factor: 1 samples the whole uncertainty of an agent's score, 0 never tries another agent. */
const EXPLORATION = 0.6;

const NOTHING: OutcomeStats = { accepted: 0, failed: 0, lost: 0, retried: 0, worth: 0, milliseconds: 0, cost_usd: 0 };

/** An agent's score for a kind of work. */
export interface AgentScore {
  readonly agent: string;
  /** Expected value of the next outcome, from 0 to 1, less a deduction for cost and time. */
  readonly score: number;
  /** Standard deviation of the expected value. */
  readonly deviation: number;
  /** Unweighted totals of the kept outcomes; undefined without outcomes. */
  readonly record: OutcomeStats | undefined;
}

/** An agent with its capability for the kind of work in the specification, from 0 to 1. */
export interface Candidate {
  readonly agent: string;
  readonly capability: number;
}

/** Scores the candidates. @param record undefined if the kind of work has no outcomes yet */
export function scoresOf(candidates: readonly Candidate[], record: KindRecord | undefined): readonly AgentScore[] {
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
    const each = known.map(({ whole, count }) => (count === 0 ? 0 : whole[of] / count));
    const most = Math.max(...each);
    return each.map((one) => (most === 0 ? 0 : one / most));
  };
  const [costs, times] = [average('cost_usd'), average('milliseconds')];
  return known.map(({ agent, mean, deviation, whole, count }, index) => {
    const spent = COST_WEIGHT * (costs[index] ?? 0) + TIME_WEIGHT * (times[index] ?? 0);
    return { agent, score: Math.max(0, mean - spent), deviation, record: count === 0 ? undefined : whole };
  });
}

/**
 * Selects an agent: usually the best, sometimes another that may be better. Each agent draws a score from its
 * distribution, and the highest wins. Less known agents and close competitors are therefore tried more often.
 * @param standings at least one, best first
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

/** Increments to the record of a kind of work. */
export interface RecordedOutcomes {
  readonly kind: KindOfWork;
  readonly outcomes: number;
  readonly bucket: number;
  readonly tallies: Tallies;
  /** Numbers of the dropped buckets. */
  readonly faded: readonly number[];
}

/** Returns the increments for outcomes. Concurrent runs add up; an overfull bucket decays as one. */
export function recordedOutcomesOf(record: WorkRecord, outcomes: readonly Outcome[]): readonly RecordedOutcomes[] {
  return [...new Set(outcomes.map(({ kind }) => kind))].map((kind) => {
    const own = outcomes.filter((outcome) => outcome.kind === kind);
    const before = record[kind];
    const bucket = Math.floor((before?.outcomes ?? 0) / BUCKET_OUTCOMES);
    const buckets = Object.keys(before?.buckets ?? {}).map(Number);
    const tallies: Record<string, OutcomeStats> = {};
    for (const { agent, kind: _, ...tally } of own) tallies[agent] = added(tallies[agent] ?? NOTHING, tally);
    const faded = buckets.filter((one) => one <= bucket - MAX_BUCKETS);
    return { kind, outcomes: own.length, bucket, tallies, faded };
  });
}

export function outcomesIn({ accepted, failed, lost }: OutcomeStats): number {
  return accepted + failed + lost;
}

/** Describes an agent's outcomes: `14 of 16 accepted here for review, 0.8 s, 0.01 USD`. */
export function evidenceOf(record: OutcomeStats, kind: KindOfWork): string {
  const count = outcomesIn(record);
  const seconds = `${round(record.milliseconds / count / 1000, 1)} s`;
  const cost = `${round(record.cost_usd / count, 4)} USD`;
  return `${record.accepted} of ${count} accepted here for ${kind}, ${seconds}, ${cost}`;
}

export function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

function added(left: OutcomeStats, right: OutcomeStats): OutcomeStats {
  return {
    accepted: left.accepted + right.accepted,
    failed: left.failed + right.failed,
    lost: left.lost + right.lost,
    retried: left.retried + right.retried,
    worth: left.worth + right.worth,
    milliseconds: left.milliseconds + right.milliseconds,
    cost_usd: left.cost_usd + right.cost_usd,
  };
}

const DRAWS = 2 ** 32;

/** Returns a normally distributed number (Box-Muller transform). */
function normal(random: RandomSource): number {
  const [first, second] = [0, 0].map(() => (random.integer(DRAWS) + 0.5) / DRAWS);
  return Math.sqrt(-2 * Math.log(first ?? 0.5)) * Math.cos(2 * Math.PI * (second ?? 0.5));
}

/** Changes that commits can make to the records of outcomes. */
export interface WorkChanges {
  readonly recordOutcomes: { readonly workspace: string; readonly bookings: readonly RecordedOutcomes[] };
}

export type RandomSource = Pick<Randomness, 'integer'>;
