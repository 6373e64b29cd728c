/** Runs an operation without losses, then once per way of losing one of its commits, and compares the results. */
import assert from 'node:assert/strict';
import { defaultOrNightly } from '../nightly.ts';
import { type Account, differences } from './account.ts';
import type { LossyConnection, LossyConnections } from './connections.ts';
import { LOST, type Loss, type LostStatus } from './proxy.ts';

/** Result of one execution. */
export interface Outcome {
  readonly account: Account;
  /** Problems found without a comparison. */
  readonly problems: readonly string[];
  /** Number of commits sent. */
  readonly commits: number;
  /** Number of commits lost. */
  readonly lost: number;
}

/** Prepares the operation, calls `connection.proxy.begin(loss)`, then runs the operation. */
export type Deed = (connection: LossyConnection, loss?: Loss) => Promise<Outcome>;

export interface Tried {
  readonly problems: readonly string[];
  readonly losses: number;
}

const STATUSES = Object.keys(LOST) as readonly LostStatus[];

/**
 * In the default run, each commit loses its response in the most common way: the store treats all ways alike, which
 * `integration/kernel/lostCommits` asserts. In the nightly run, each is lost in every way.
 * @param most maximum number of commits to lose, one at a time
 */
export async function tryLosses(connections: LossyConnections, most: number, deed: Deed): Promise<Tried> {
  const undisturbed = await connections.use((connection) => deed(connection));
  assert.deepEqual(undisturbed.problems, [], 'undisturbed');
  const numbers = Array.from({ length: Math.min(undisturbed.commits, most) }, (_, index) => index + 1);
  const losses = numbers.flatMap((commit) =>
    waysOf(commit).slice(0, defaultOrNightly(1, { night: Number.POSITIVE_INFINITY })),
  );
  const found = losses.map((loss) =>
    connections.use(async (connection) => {
      const { problems, account, lost } = await deed(connection, loss);
      const all = [...problems, ...differences(undisturbed.account, account)];
      if (lost !== (loss.times ?? 1)) all.push(`${lost} commits were lost`);
      return all.length === 0 ? [] : [`${told(loss)}: ${all.join('; ')}`];
    }),
  );
  return { problems: (await Promise.all(found)).flat(), losses: losses.length };
}

/** Returns the ways in which a commit is lost; the most common one first. */
export function waysOf(commit: number): readonly Loss[] {
  return [
    { commit, status: 'UNAVAILABLE', what: 'answer' },
    ...STATUSES.map((status): Loss => ({ commit, status, what: 'answer' })).filter(
      ({ status }) => status !== 'UNAVAILABLE',
    ),
    { commit, status: 'UNAVAILABLE', what: 'answer', times: 2 },
    { commit, status: 'UNAVAILABLE', what: 'request' },
  ];
}

export function told({ commit, what, status, times = 1 }: Loss): string {
  return `${what} of commit ${commit}, ${status}${times === 1 ? '' : ` ${times} times`}`;
}
