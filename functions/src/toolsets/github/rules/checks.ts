/**
 * What is known of a pull request: its state, its head commit and the results of its checks. What a delivery says is
 * merged into that by GitHub's times, so that the same is known in whatever order deliveries come. Pure.
 */
import type { PullRequestLink } from './link.ts';
import type { PullRequestState } from './node.ts';

export type CheckResult = PullRequestLink['checks'][number];

/** What a delivery says of one pull request. */
export interface Seen {
  /** When that was so, by GitHub's clock. */
  readonly at: Date;
  /** The commit that was the head at that time. */
  readonly head?: string | undefined;
  readonly state?: PullRequestState | undefined;
  readonly check?: Omit<CheckResult, 'at'> | undefined;
}

/** The most results that are kept. */
const MAX_CHECKS = 200;

/** Returns what is known after a delivery: the same object if it says nothing new. */
export function learned(link: PullRequestLink, seen: Seen): PullRequestLink {
  const known = withCheck(withHead(withState(link, seen), seen), seen);
  return known.checks.length > MAX_CHECKS ? { ...known, checks: mostRelevant(known) } : known;
}

/** Of two states at the same time the last one holds. */
const STATE_ORDER = { open: 0, closed: 1, merged: 2 } as const satisfies Record<PullRequestState, number>;

/** A later state replaces an earlier one. A merged pull request stays merged. */
function withState(link: PullRequestLink, { state, at }: Seen): PullRequestLink {
  if (state === undefined || link.state === 'merged') return link;
  const past = link.stateAt?.getTime() ?? Number.NEGATIVE_INFINITY;
  const [now, before] = [STATE_ORDER[state], STATE_ORDER[link.state]];
  if (state !== 'merged' && compared([at.getTime(), now], [past, before]) <= 0) return link;
  return { ...link, state, stateAt: at };
}

function withHead(link: PullRequestLink, { head, at }: Seen): PullRequestLink {
  if (head === undefined) return link;
  const past = link.headAt?.getTime() ?? Number.NEGATIVE_INFINITY;
  return compared([at.getTime(), head], [past, link.head ?? '']) <= 0 ? link : { ...link, head, headAt: at };
}

/** Keeps the latest result of each check of each commit; of two at the same time the one with the higher id. */
function withCheck(link: PullRequestLink, { check, at }: Seen): PullRequestLink {
  if (check === undefined) return link;
  const result = { ...check, at };
  const isSame = ({ key, commit }: CheckResult) => key === result.key && commit === result.commit;
  const before = link.checks.find(isSame);
  if (before !== undefined && compared(rankOf(result), rankOf(before)) <= 0) return link;
  return { ...link, checks: [...link.checks.filter((one) => !isSame(one)), result] };
}

function rankOf({ at, id, passed }: CheckResult): readonly number[] {
  return [at.getTime(), id, passed ? 0 : 1];
}

/** Those of the head, failures and late ones first. */
function mostRelevant({ checks, head }: PullRequestLink): PullRequestLink['checks'] {
  const worth = (one: CheckResult) => [one.commit === head ? 1 : 0, one.passed ? 0 : 1, ...rankOf(one)];
  return checks.toSorted((left, right) => compared(worth(right), worth(left))).slice(0, MAX_CHECKS);
}

/** Returns the check of the head commit that failed last; undefined if none of them has failed. */
export function failureOf({ head, checks }: PullRequestLink): CheckResult | undefined {
  const failed = checks.filter(({ commit, passed }) => !passed && commit === head);
  return failed.toSorted((left, right) => compared(rankOf(right), rankOf(left)))[0];
}

function compared<Part extends number | string>(left: readonly Part[], right: readonly Part[]): number {
  const index = left.findIndex((part, at) => part !== right[at]);
  const [one, other] = [left[index], right[index]];
  return one === undefined || other === undefined ? 0 : one < other ? -1 : 1;
}
