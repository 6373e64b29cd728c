/**
 * How well hosted agents have done a kind of work in a workspace, and who is asked because of it. What the
 * specification says of an agent is worth a few outcomes; outcomes fade with those that come after them, so that a
 * change of an agent's quality is noticed. Source: docs/decisions/0034-routing-that-learns.md.
 */

import type { KindOfWork } from '../../../../access/rules/workspace.ts';
import type { Randomness } from '../../../../kernel/ports.ts';

/** What is counted of an agent's outcomes. `accepted`, `failed` and `lost` add up to all. */
export interface Tally {
  /** Used, won, or approved of. */
  readonly accepted: number;
  /** It gave no answer that says something. */
  readonly failed: number;
  /** Another answer was judged better, or a review did not approve of it. */
  readonly lost: number;
  /** Of the accepted ones: those for which it had to be asked again. */
  readonly retried: number;
  /** The sum of what the outcomes are worth, each from 0 to 1. */
  readonly worth: number;
  readonly milliseconds: number;
  readonly cost_usd: number;
}

/** What became of one agent's work in one step. */
export interface Outcome extends Tally {
  readonly agent: string;
  readonly kind: KindOfWork;
}

/** By agent. */
type Tallies = Readonly<Record<string, Tally>>;

/** The outcomes of a kind of work, in buckets of about the same number, by the number of the bucket. */
export interface KindRecord {
  /** Of all agents, also those that are forgotten. */
  readonly outcomes: number;
  readonly buckets: Readonly<Record<string, Tallies>>;
}

/** By kind of work. */
export type WorkRecord = Readonly<Record<string, KindRecord>>;

/** How many outcomes the specification's number stands for. */
export const PRIOR_OUTCOMES = 4;

/** So many outcomes of a kind there must be before anything but the best is tried. */
export const FIRST_OUTCOMES = 8;

const BUCKET_OUTCOMES = 10;

/** What a bucket counts of what the next one does. */
const FADING = 0.85;

/** Older buckets count less than a twelfth, and are dropped. */
const KEPT_BUCKETS = 16;

/** What the dearest and the slowest of the agents lose of their score against one that costs nothing and takes no time. */
const COST_WEIGHT = 0.03;
const TIME_WEIGHT = 0.02;

/** How curious the choice is: 1 draws from all that an agent may be by its outcomes, 0 never tries another. */
const CURIOSITY = 0.6;

const NOTHING: Tally = {
  accepted: 0,
  failed: 0,
  lost: 0,
  retried: 0,
  worth: 0,
  milliseconds: 0,
  cost_usd: 0,
};

/** How an agent stands at a kind of work. */
export interface Standing {
  readonly agent: string;
  /** From 0 to 1: what its next outcome should be worth, less something for cost and time. */
  readonly score: number;
  /** How sure that is. */
  readonly deviation: number;
  /** Its outcomes that are remembered, each counted whole; undefined where there are none. */
  readonly record: Tally | undefined;
}

/** An agent with what the specification says of it at the kind of work, from 0 to 1. */
export interface Candidate {
  readonly agent: string;
  readonly capability: number;
}

/** @param record of the kind of work; undefined where there is none yet */
export function standingsOf(
  candidates: readonly Candidate[],
  record: KindRecord | undefined,
): readonly Standing[] {
  const newest = Math.max(0, ...Object.keys(record?.buckets ?? {}).map(Number));
  const known = candidates.map(({ agent, capability }) => {
    const own = Object.entries(record?.buckets ?? {}).flatMap(([bucket, tallies]) => {
      const tally = tallies[agent];
      const age = newest - Number(bucket);
      return tally === undefined || age >= KEPT_BUCKETS ? [] : [{ tally, weight: FADING ** age }];
    });
    const whole = own.map(({ tally }) => tally).reduce(added, NOTHING);
    const weight = own.reduce((sum, one) => sum + one.weight * outcomesIn(one.tally), 0);
    const worth = own.reduce((sum, one) => sum + one.weight * one.tally.worth, 0);
    const mean = (PRIOR_OUTCOMES * capability + worth) / (PRIOR_OUTCOMES + weight);
    const deviation = Math.sqrt((mean * (1 - mean)) / (PRIOR_OUTCOMES + weight + 1));
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
 * Whom to ask: mostly the best, and now and then another that may be better by what is known of it. Each draws a score
 * from all that it may have, and the highest is asked; so an agent is tried more often the less is known of it, and
 * the closer it comes.
 * @param standings at least one, best first
 * @param chance of the run, so that the choice can be made again
 */
export function chosenBy(
  standings: readonly Standing[],
  record: KindRecord | undefined,
  chance: Chance,
): Standing | undefined {
  if ((record?.outcomes ?? 0) < FIRST_OUTCOMES) return standings[0];
  const drawn = standings.map((standing) => ({
    standing,
    score: standing.score + CURIOSITY * standing.deviation * normal(chance),
  }));
  return drawn.toSorted((left, right) => right.score - left.score)[0]?.standing;
}

/** What outcomes add to the record of a kind of work. */
export interface Booking {
  readonly kind: KindOfWork;
  readonly outcomes: number;
  readonly bucket: number;
  readonly tallies: Tallies;
  /** Buckets that are dropped. */
  readonly faded: readonly number[];
}

/** Where outcomes are counted: runs that end at once add up, and a bucket that gets more than its share only fades as one. */
export function bookingsOf(record: WorkRecord, outcomes: readonly Outcome[]): readonly Booking[] {
  return [...new Set(outcomes.map(({ kind }) => kind))].map((kind) => {
    const own = outcomes.filter((outcome) => outcome.kind === kind);
    const before = record[kind];
    const bucket = Math.floor((before?.outcomes ?? 0) / BUCKET_OUTCOMES);
    const buckets = Object.keys(before?.buckets ?? {}).map(Number);
    const tallies: Record<string, Tally> = {};
    for (const { agent, kind: _, ...tally } of own) tallies[agent] = added(tallies[agent] ?? NOTHING, tally);
    const faded = buckets.filter((one) => one <= bucket - KEPT_BUCKETS);
    return { kind, outcomes: own.length, bucket, tallies, faded };
  });
}

export function outcomesIn({ accepted, failed, lost }: Tally): number {
  return accepted + failed + lost;
}

/** An agent's outcomes in words: `14 of 16 accepted here for review, 0.8 s, 0.01 USD`. */
export function evidenceOf(record: Tally, kind: KindOfWork): string {
  const count = outcomesIn(record);
  const seconds = `${round(record.milliseconds / count / 1000, 1)} s`;
  const cost = `${round(record.cost_usd / count, 4)} USD`;
  return `${record.accepted} of ${count} accepted here for ${kind}, ${seconds}, ${cost}`;
}

export function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

function added(left: Tally, right: Tally): Tally {
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

/** Box and Muller. */
function normal(chance: Chance): number {
  const [first, second] = [0, 0].map(() => (chance.integer(DRAWS) + 0.5) / DRAWS);
  return Math.sqrt(-2 * Math.log(first ?? 0.5)) * Math.cos(2 * Math.PI * (second ?? 0.5));
}

/** What commits may change of the records of work. */
export interface WorkChanges {
  readonly bookOutcomes: { readonly workspace: string; readonly bookings: readonly Booking[] };
}

export type Chance = Pick<Randomness, 'integer'>;
