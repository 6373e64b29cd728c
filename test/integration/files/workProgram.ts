/** An instance that makes random calls until it is killed. Not a test file. */
import fc from 'fast-check';
import { Team } from '../coordination/team.ts';
import { CALLS, perform } from './histories.ts';

interface Work {
  readonly workspace: string;
  readonly agents: readonly string[];
  readonly seed: number;
  readonly now: string;
}

const { workspace, agents, seed, now }: Work = JSON.parse(process.argv[2] ?? '{}');
const team = Object.assign(new Team(), { workspace, now: new Date(now) });
const call = fc.tuple(fc.constantFrom(...CALLS, 'claim', 'claim', 'complete', 'requeue'), fc.nat(3), fc.nat(20));
const calls = fc.sample(call, { seed, numRuns: 10_000 });
await Promise.all(
  [0, 1, 2].map(async (lane) => {
    for (const one of calls.filter((_, index) => index % 3 === lane)) {
      await perform(team, team.app, agents, one);
      process.stdout.write('.');
    }
  }),
);
