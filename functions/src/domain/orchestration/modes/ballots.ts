/** Counting rankings. Ballots without one do not count. */
import type { Ballot } from './ask.ts';

/** Borda: the last of a ranking gets 0 points, the one before it 1, and so on. */
export function bordaCount(ballots: readonly Ballot[]): (agent: string) => number {
  return (agent) => sum(ballots, (ballot) => points(ballot, agent));
}

/** The same, without what judges gave to themselves. */
export function foreignCount(ballots: readonly Ballot[]): (agent: string) => number {
  return (agent) => sum(ballots, (ballot) => (ballot.judge === agent ? 0 : points(ballot, agent)));
}

export function firstPlaces(ballots: readonly Ballot[]): (agent: string) => number {
  return (agent) => sum(ballots, ({ ranking }) => (ranking?.[0] === agent ? 1 : 0));
}

function points({ ranking = [] }: Ballot, agent: string): number {
  const place = ranking.indexOf(agent);
  return place === -1 ? 0 : ranking.length - 1 - place;
}

function sum(ballots: readonly Ballot[], of: (ballot: Ballot) => number): number {
  return ballots.reduce((total, ballot) => total + of(ballot), 0);
}
