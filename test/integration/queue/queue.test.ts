/**
 * Several agents make random calls, sequentially and concurrently, at two instances. A claim epoch never has two
 * holders, no task is lost, no task starts before its dependencies are done, and the counters match the tasks.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { defaultOrNightly } from '../../support/nightly.ts';
import { inRuns } from '../../support/properties.ts';
import { Team } from '../coordination/team.ts';
import { Ledger } from './ledger.ts';
import { QueueModel } from './model.ts';
import { aim, type Operation, operation, perform, predict, type Real } from './operations.ts';

/** Number of random runs. At night, they take five minutes. The seed is fixed unless MUSTER_SEED is set. */
const RUNS = defaultOrNightly(4, { night: 40 });

type Command = fc.AsyncCommand<QueueModel, Real>;

/** A single operation. The model must allow its result. */
class Alone implements Command {
  private readonly what: Operation;

  constructor(what: Operation) {
    this.what = what;
  }

  check(): boolean {
    return true;
  }

  async run(model: QueueModel, real: Real): Promise<void> {
    pass(1, model, real);
    const aimed = aim(this.what, model, real);
    const answered = await perform(this.what, aimed, model, real);
    const expected = predict(this.what, aimed, model);
    assert.ok(expected.includes(answered), `${answered} instead of ${expected.join(' or ')}`);
  }

  toString(): string {
    return JSON.stringify(this.what);
  }
}

/** Concurrent operations. After them, the stored tasks must match the ledger. */
class Together implements Command {
  private readonly operations: readonly Operation[];

  constructor(operations: readonly Operation[]) {
    this.operations = operations;
  }

  check(): boolean {
    return true;
  }

  async run(model: QueueModel, real: Real): Promise<void> {
    pass(1, model, real);
    const aimed = this.operations.map((what) => ({ what, at: aim(what, model, real) }));
    await Promise.all(aimed.map(({ what, at }) => perform(what, at, model, real)));
    const tasks = await real.ledger.audit(real.team, real.agents);
    model.resume(tasks, real.team.now.getTime() - model.now * 1000);
    model.resumeSeen(await real.team.app.access.ports.presence.lastSeen(real.agents), real.team.now);
  }

  toString(): string {
    return `at once: ${JSON.stringify(this.operations)}`;
  }
}

/** Advances the clock, so that at the next sweep leases expire and delays end. */
class Later implements Command {
  private readonly seconds: number;

  constructor(seconds: number) {
    this.seconds = seconds;
  }

  check(): boolean {
    return true;
  }

  async run(model: QueueModel, real: Real): Promise<void> {
    pass(this.seconds, model, real);
  }

  toString(): string {
    return `${this.seconds} s later`;
  }
}

function pass(seconds: number, model: QueueModel, real: Real): void {
  model.now += seconds;
  real.team.pass(seconds);
}

async function newTeam(): Promise<{ model: QueueModel; real: Real }> {
  const team = new Team();
  const agents = await Promise.all(['ann', 'bob', 'cleo', 'dan'].map((name) => team.join(name)));
  const [ann = ''] = agents;
  await team.allow(ann, 2);
  const model = new QueueModel(new Map(agents.map((agent) => [agent, agent === ann ? 2 : 1])));
  const real = { team, agents, instances: [team.app, team.anotherInstance()], ledger: new Ledger() };
  await perform({ kind: 'create', tasks: SOME, instance: 0 }, { agent: '', taskId: '', epoch: undefined }, model, real);
  return { model, real };
}

/** Initial tasks, because an empty queue tests little. */
const SOME = [0, 1, 2, 3, 4].map((place) => ({
  priority: 1 + (place % 3),
  deadline: Infinity,
  siblings: place > 2 ? [place - 3] : [],
  existing: [],
}));

describe('the queue under random operations', () => {
  it('returns only results that the model allows, and stores what the ledger records', async () => {
    const commands = fc.commands(
      [
        operation.map((what) => new Alone(what)),
        operation.map((what) => new Alone(what)),
        fc.array(operation, { minLength: 2, maxLength: 6 }).map((several) => new Together(several)),
        fc.constantFrom(20, 60, 200, 400).map((seconds) => new Later(seconds)),
      ],
      { maxCommands: 60, size: 'max' },
    );
    await inRuns(RUNS).forAllAsync(commands, async (steps) => {
      const { model, real } = await newTeam();
      await fc.asyncModelRun(() => ({ model, real }), steps);
      await real.ledger.audit(real.team, real.agents);
    });
  }).timeout(RUNS * 30_000);
});
