/** Does something undisturbed, then once for each way of losing one of its commits, and compares. */
import assert from 'node:assert/strict';
import { IS_NIGHT } from '../night.ts';
import { type Account, differences } from './account.ts';
import type { Lane, Lanes } from './lanes.ts';
import { LOST, type Loss, type LostStatus } from './proxy.ts';

/** What came of it. */
export interface Outcome {
  readonly account: Account;
  /** What is wrong without any comparison. */
  readonly problems: readonly string[];
  /** How many commits were sent. */
  readonly commits: number;
  /** How many of them were lost. */
  readonly lost: number;
}

/** Prepares, and then does it with the lane watching: `lane.proxy.begin(loss)` stands between the two. */
export type Deed = (lane: Lane, loss?: Loss) => Promise<Outcome>;

export interface Tried {
  readonly problems: readonly string[];
  readonly losses: number;
}

let trials = 0;

const STATUSES = Object.keys(LOST) as readonly LostStatus[];

/**
 * @param most how many of its commits are lost, one at a time
 * @param ways in how many ways each of them is lost by day
 */
export async function tryLosses(lanes: Lanes, most: number, deed: Deed, ways: 1 | 2 = 2): Promise<Tried> {
  trials += 1;
  const trial = trials;
  const undisturbed = await lanes.use((lane) => deed(lane));
  assert.deepEqual(undisturbed.problems, [], 'undisturbed');
  const losses = lossesOf(Math.min(undisturbed.commits, most), trial, ways);
  const found = losses.map((loss) =>
    lanes.use(async (lane) => {
      const { problems, account, lost } = await deed(lane, loss);
      const all = [...problems, ...differences(undisturbed.account, account)];
      if (lost !== (loss.times ?? 1)) all.push(`${lost} commits were lost`);
      return all.length === 0 ? [] : [`${told(loss)}: ${all.join('; ')}`];
    }),
  );
  return { problems: (await Promise.all(found)).flat(), losses: losses.length };
}

/**
 * By night each of the commits is lost in every way. By day each is lost in the way that is met most, and, where that
 * is asked for, in one of the others, which take turns.
 */
function lossesOf(commits: number, trial: number, ways: 1 | 2): readonly Loss[] {
  const numbers = Array.from({ length: commits }, (_, index) => index + 1);
  return numbers.flatMap((commit) => {
    const [usual, ...others] = waysOf(commit);
    if (IS_NIGHT) return [usual, ...others];
    const other = others[(trial + commit) % others.length];
    return ways === 1 || other === undefined ? [usual] : [usual, other];
  });
}

function waysOf(commit: number): readonly [Loss, ...Loss[]] {
  return [
    { commit, status: 'UNAVAILABLE', what: 'answer' },
    ...STATUSES.map((status): Loss => ({ commit, status, what: 'answer' })).filter(
      ({ status }) => status !== 'UNAVAILABLE',
    ),
    { commit, status: 'UNAVAILABLE', what: 'answer', times: 2 },
    { commit, status: 'UNAVAILABLE', what: 'request' },
  ];
}

function told({ commit, what, status, times = 1 }: Loss): string {
  return `${what} of commit ${commit}, ${status}${times === 1 ? '' : ` ${times} times`}`;
}
