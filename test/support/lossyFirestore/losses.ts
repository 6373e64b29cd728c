/** Runs an operation without losses, then several times with a lost commit, and compares the results. */
import assert from 'node:assert/strict';
import { defaultOrNightly } from '../nightly.ts';
import { type Account, differences } from './account.ts';
import type { LossyConnection, LossyConnections } from './connections.ts';
import { LOST, type Loss, type LostStatus } from './proxy.ts';

/** Result of one execution. */
export interface Outcome {
  readonly account: Account;
  /** Problems of this execution, found without comparing it with another. */
  readonly problems: readonly string[];
  /** Number of commits that the execution sent. */
  readonly commits: number;
  /** Number of these commits that the proxy lost. */
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
 * Loses each commit of an operation in turn. The default run tries only the most common way, because the store treats
 * all ways alike (asserted by `integration/kernel/lostCommits`). The nightly run tries every way.
 * @param max maximum number of commits to try
 */
export async function tryLosses(connections: LossyConnections, max: number, deed: Deed): Promise<Tried> {
  const undisturbed = await connections.use((connection) => deed(connection));
  assert.deepEqual(undisturbed.problems, [], 'the operation has problems even without losses');
  const numbers = Array.from({ length: Math.min(undisturbed.commits, max) }, (_, index) => index + 1);
  const losses = numbers.flatMap((commit) =>
    waysOf(commit).slice(0, defaultOrNightly(1, { night: Number.POSITIVE_INFINITY })),
  );
  const found = losses.map((loss) =>
    connections.use(async (connection) => {
      const { problems, account, lost } = await deed(connection, loss);
      const all = [...problems, ...differences(undisturbed.account, account)];
      if (lost !== (loss.times ?? 1)) all.push(`${lost} commits were lost`);
      return all.length === 0 ? [] : [`${reported(loss)}: ${all.join('; ')}`];
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

export function reported({ commit, what, status, times = 1 }: Loss): string {
  return `${what} of commit ${commit}, ${status}${times === 1 ? '' : ` ${times} times`}`;
}
