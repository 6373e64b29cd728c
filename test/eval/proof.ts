/** The numbers that proofs must reach, each measured. docs/benchmarks.md explains how to print them. */
import { keysLeftAfterKills } from '../integration/files/kills.ts';
import { collidingClass } from './files.ts';
import { countConcurrentStarts, measureHandIns } from './handIns.ts';
import { countUnprovenStarts } from './histories.ts';
import { countOverclaims, type Overclaims, unbrokenLoop } from './overclaims.ts';

/** A number, and whether it reaches what is required. Without `reach`, the number is only printed. */
export interface Row {
  readonly what: string;
  readonly value: string;
  readonly reach?: string;
  readonly isReached: boolean;
}

interface Amounts {
  readonly tasks: number;
  readonly histories: number;
  readonly handIns: number;
  readonly concurrent: number;
  readonly kills: number;
}

/** Amounts of `npm run eval -- proof`. */
export const FULL: Amounts = { tasks: 10_000, histories: 10_000, handIns: 200, concurrent: 20, kills: 501 };

const SEED = 1;

/** Returns the numbers that need no database. */
export async function ruleRows({ tasks: count, histories }: Pick<Amounts, 'tasks' | 'histories'>): Promise<Row[]> {
  const given = { count, seed: SEED };
  const command = await countOverclaims({ command: 'npm test' }, given);
  const review = await countOverclaims({ review: 'any' }, given);
  const none = await countOverclaims(undefined, given);
  const loop = await unbrokenLoop();
  const starts = await countUnprovenStarts(histories);
  const { waiting, sharing } = await collidingClass();
  return [
    row(
      `overclaimed in 30 % of ${count} tasks, with a command: false done`,
      share(command, 'falseDone'),
      '0',
      (n) => n === 0,
    ),
    row('  good work lost', share(command, 'goodLost'), '0', (n) => n === 0),
    row('  with a reviewer and 3 rounds: false done', share(review, 'falseDone'), '< 5 %', (n) => n < 0.05),
    row('  a person asked', share(review, 'asked'), '< 3 %', (n) => n < 0.03),
    row('  good work lost', share(review, 'goodLost'), '0', (n) => n === 0),
    row('  without an acceptance: false done', share(none, 'falseDone'), 'about 30 %', (n) => Math.abs(n - 0.3) < 0.03),
    row(
      `dependents begun on unproven results, ${starts.histories} histories`,
      whole(starts.unproven),
      '0',
      (n) => n === 0,
    ),
    row('  dependents begun', whole(starts.starts), '> 0', (n) => n > 0),
    row('rounds if a reviewer repeats its correction', whole(loop.rounds), 'at most 2', (n) => n <= 2),
    row('  questions to a person', whole(loop.questions), '1', (n) => n === 1),
    row(
      '40 tasks over 10 files, 8 agents: overlapping minutes in the first 10',
      whole(waiting.overlapping_in_first_10_minutes),
      '0',
      (n) => n === 0,
    ),
    row('  the same without a wait', whole(sharing.overlapping_in_first_10_minutes), '> 0', (n) => n > 0),
    row('  overlaps not reported', whole(waiting.overlaps_not_told), '0', (n) => n === 0),
    row('  idle minutes', whole(waiting.idle_minutes)),
    row('  idle minutes without a wait', whole(sharing.idle_minutes)),
  ];
}

/** Returns the numbers that need the databases. */
export async function storedRows({
  handIns,
  concurrent,
  kills,
}: Pick<Amounts, 'handIns' | 'concurrent' | 'kills'>): Promise<Row[]> {
  const starts = await countConcurrentStarts(concurrent, SEED);
  const { p95, workTokens, checkTokens } = await measureHandIns(handIns);
  return [
    row(`  the same, ${starts.histories} times four concurrent agents`, whole(starts.unproven), '0', (n) => n === 0),
    row('  dependents begun', whole(starts.starts), '> 0', (n) => n > 0),
    // Only printed, because a busy machine would fail a limit.
    row('from the hand-in to the verdict, ms, 95th percentile', whole(Math.round(p95))),
    row('tokens of the calls of reviews, as a share of the work', percent(checkTokens / workTokens)),
    row(
      `reserved files left after ${kills} kills of instances`,
      whole(await keysLeftAfterKills(kills)),
      '0',
      (n) => n === 0,
    ),
  ];
}

interface Value {
  readonly number: number;
  readonly text: string;
}

function row(
  what: string,
  { number, text }: Value,
  reach?: string,
  isReached: (number: number) => boolean = () => true,
): Row {
  return { what, value: text, ...(reach !== undefined && { reach }), isReached: isReached(number) };
}

function share(sums: Overclaims, name: 'falseDone' | 'asked' | 'goodLost'): Value {
  return percent(sums[name] / sums.tasks);
}

function percent(number: number): Value {
  return { number, text: number === 0 ? '0' : `${(number * 100).toFixed(1)} %` };
}

function whole(number: number): Value {
  return { number, text: String(number) };
}

/** Returns the rows as lines of text with aligned columns. */
export function tableOf(rows: readonly Row[]): string {
  const width = (name: 'what' | 'value') => Math.max(...rows.map((one) => one[name].length));
  const [first, second] = [width('what'), width('value')];
  const line = ({ what, value, reach, isReached }: Row) =>
    `${what.padEnd(first)}  ${value.padStart(second)}${reach === undefined ? '' : `  ${reach}${isReached ? '' : '  NOT REACHED'}`}`;
  return rows.map(line).join('\n');
}
