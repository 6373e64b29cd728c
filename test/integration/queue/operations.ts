/** Random operations of agents, leaders and the sweep on the queue, applied to the services and to the model. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Composition } from '../../../functions/src/composition/compose.ts';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import type { ReportedOutcome } from '../../../functions/src/toolsets/coordination/rules/task.ts';
import { type Team, unkeyed } from '../coordination/team.ts';
import type { Ledger } from './ledger.ts';
import { LEASE_SECONDS, type Outcome, type QueueModel } from './model.ts';

export interface Real {
  readonly team: Team;
  readonly agents: readonly string[];
  readonly instances: readonly Composition[];
  readonly ledger: Ledger;
}

interface NewTask {
  readonly priority: number;
  /** Seconds since the team's start, or Infinity for a task without a deadline. */
  readonly deadline: number;
  /** Dependencies inside the batch, as positions. */
  readonly siblings: readonly number[];
  /** Dependencies among the existing tasks, as positions. */
  readonly existing: readonly number[];
}

interface ByAgent {
  readonly agent: number;
  readonly instance: number;
}

/**
 * An operation on a task. The task is selected by its position among all tasks, among held tasks (then the holder
 * makes the call), or among expired claims (then the previous holder does). Most calls of holders succeed.
 */
interface OnTask extends ByAgent {
  readonly whose: 'anyone' | 'holder' | 'former';
  readonly task: number;
}

export type Operation =
  | { readonly kind: 'create'; readonly tasks: readonly NewTask[]; readonly instance: number }
  | ({ readonly kind: 'claim' } & ByAgent)
  | ({ readonly kind: 'start' } & OnTask)
  | ({ readonly kind: 'settle'; readonly outcome: Outcome; readonly stale: boolean } & OnTask)
  | ({ readonly kind: 'touch' } & ByAgent)
  | { readonly kind: 'sweep'; readonly instance: number };

const instance = fc.nat(1);
const agent = fc.nat(3);
const place = fc.nat(30);
const whose = fc.oneof(
  { arbitrary: fc.constant('holder' as const), weight: 5 },
  { arbitrary: fc.constant('former' as const), weight: 2 },
  { arbitrary: fc.constant('anyone' as const), weight: 1 },
);

const newTask = fc.record({
  priority: fc.integer({ min: 1, max: 3 }),
  deadline: fc.constantFrom(Infinity, Infinity, 1_000_000, 2_000_000),
  siblings: fc.array(fc.nat(2), { maxLength: 1 }),
  existing: fc.array(place, { maxLength: 1 }),
});

export const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    arbitrary: fc.record({
      kind: fc.constant('create' as const),
      tasks: fc.array(newTask, { minLength: 1, maxLength: 3 }),
      instance,
    }),
    weight: 2,
  },
  { arbitrary: fc.record({ kind: fc.constant('claim' as const), agent, instance }), weight: 6 },
  { arbitrary: fc.record({ kind: fc.constant('start' as const), agent, instance, whose, task: place }), weight: 2 },
  {
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      agent,
      instance,
      whose,
      task: place,
      outcome: fc.constantFrom('done', 'done', 'done', 'retry', 'failed'),
      stale: fc.oneof({ arbitrary: fc.constant(false), weight: 5 }, { arbitrary: fc.constant(true), weight: 1 }),
    }),
    weight: 6,
  },
  { arbitrary: fc.record({ kind: fc.constant('touch' as const), agent, instance }), weight: 1 },
  { arbitrary: fc.record({ kind: fc.constant('sweep' as const), instance }), weight: 2 },
);

/** Agent, task and epoch of an operation. They are chosen before the operation is performed. */
export interface Aimed {
  readonly agent: string;
  readonly taskId: string;
  readonly epoch: number | undefined;
}

export function aim(what: Operation, model: QueueModel, { agents }: Real): Aimed {
  const name = 'agent' in what ? (agents[what.agent] ?? '') : '';
  if (what.kind !== 'start' && what.kind !== 'settle') return { agent: name, taskId: '', epoch: undefined };
  const chosen = at(candidates(what.whose, model, agents), what.task);
  const { id: taskId = 'task-none', epoch = 0 } = chosen?.task ?? at(model.tasks, what.task) ?? {};
  const stale = what.kind === 'settle' && what.stale && epoch > 1;
  return { agent: chosen?.agent ?? name, taskId, epoch: stale ? epoch - 1 : undefined };
}

function candidates(whose: OnTask['whose'], model: QueueModel, agents: readonly string[]) {
  if (whose === 'holder') return agents.flatMap((agent) => model.held(agent).map((task) => ({ agent, task })));
  if (whose === 'anyone') return [];
  return model.tasks.flatMap((task) => task.expired.map(({ agent }) => ({ agent, task })));
}

function at<Item>(items: readonly Item[], place: number): Item | undefined {
  return items[place % Math.max(items.length, 1)];
}

/** Applies the operation to the model, and returns the allowed results. Created tasks are already in the model. */
export function predict(what: Operation, { agent: name, taskId, epoch }: Aimed, model: QueueModel): string[] {
  switch (what.kind) {
    case 'create':
      return ['created'];
    case 'claim':
      return model.claim(name);
    case 'start':
      return [model.start(name, taskId)];
    case 'settle':
      return [model.settle(name, taskId, what.outcome, epoch)];
    case 'touch':
      model.touch(name);
      return ['touched'];
    case 'sweep':
      model.sweep();
      return ['swept'];
  }
}

/** Performs the operation, records it in the ledger, and returns its result or error. */
export async function perform(what: Operation, aimed: Aimed, model: QueueModel, real: Real): Promise<string> {
  try {
    return await attempt(what, aimed, model, real);
  } catch (error) {
    const expected = error instanceof MusterError && ['CONFLICT', 'NOT_FOUND'].includes(error.code);
    assert.ok(expected && error.details.reason !== 'CONTENTION', String(error));
    return 'refused';
  }
}

async function attempt(
  what: Operation,
  { agent: agentId, taskId, epoch }: Aimed,
  model: QueueModel,
  { team, ledger, instances }: Real,
): Promise<string> {
  const app = instances[what.instance] ?? team.app;
  const { taskQueue } = app.services;
  const claimant = { agent_id: agentId, ...(epoch !== undefined && { claim_epoch: epoch }) };
  switch (what.kind) {
    case 'create':
      return create(what.tasks, model, { team, ledger, app });
    case 'claim': {
      const outcome = await team.claimOutcome(agentId, LEASE_SECONDS, app);
      if (outcome.kind === 'none') return 'none';
      if (outcome.kind === 'resumed') return `resumed ${outcome.task.id}`;
      ledger.claim(outcome.task.id, outcome.task.claim_epoch, agentId);
      return `claimed ${outcome.task.id} ${outcome.task.claim_epoch}`;
    }
    case 'start':
      await taskQueue.start(team.leader, taskId, claimant, unkeyed);
      return 'started';
    case 'settle': {
      const { kind } = await taskQueue.reportOutcome(
        team.leader,
        taskId,
        { claimant, outcome: outcomeOf(what.outcome) },
        unkeyed,
      );
      if (kind === 'accepted') ledger.accept(taskId);
      return kind;
    }
    case 'touch':
      await app.access.ports.presence.touch(agentId);
      return 'touched';
    case 'sweep':
      await team.sweep(app);
      return 'swept';
  }
}

async function create(
  wanted: readonly NewTask[],
  model: QueueModel,
  { team, ledger, app }: Pick<Real, 'team' | 'ledger'> & { readonly app: Composition },
): Promise<string> {
  const known = model.tasks.map((task) => task.id);
  const start = team.now.getTime() - model.now * 1000;
  const drafts = wanted.map(({ priority, deadline, siblings, existing }, index) => ({
    priority,
    deadline: deadline === Infinity ? undefined : new Date(start + deadline * 1000),
    dependencies: [
      ...siblings.filter((sibling) => sibling < index).map((sibling) => `task-${sibling + 1}`),
      ...existing.flatMap((one) => at(known, one) ?? []),
    ],
  }));
  const tasks = await app.services.taskCreation.create(team.request(drafts), unkeyed);
  ledger.create(tasks.map((task) => task.id));
  for (const [index, { id, priority, dependencies }] of tasks.entries())
    model.create(id, priority, wanted[index]?.deadline ?? Infinity, dependencies);
  return 'created';
}

function outcomeOf(outcome: Outcome): ReportedOutcome {
  if (outcome === 'done') return { kind: 'done', result: { output: 'Made it' } };
  return { kind: 'failed', error: 'It broke', retryable: outcome === 'retry' };
}
