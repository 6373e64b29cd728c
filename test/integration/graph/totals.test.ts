/**
 * Applies random changes to trees of items, with the real services and the emulator. Some responses are lost. The
 * totals of each node must equal the sums over the items themselves.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import {
  type GraphNode,
  keyOfNode,
  type NodeKind,
  type NodeRef,
  nodeFromDocument,
  nodeKey,
  type StoredNode,
} from '../../../functions/src/graph/rules/graphNode.ts';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { COLLECTIONS } from '../../../functions/src/kernel/firestore/paths.ts';
import { taskFromDocument } from '../../../functions/src/toolsets/coordination/rules/task.ts';
import { taskNode } from '../../../functions/src/toolsets/coordination/rules/taskChanges.ts';
import { runFromDocument } from '../../../functions/src/toolsets/orchestration/rules/runs/run.ts';
import { runNode } from '../../../functions/src/toolsets/orchestration/rules/runs/runNode.ts';
import { usageOf, workOf } from '../../../functions/src/toolsets/orchestration/rules/steps/step.ts';
import { todoFromDocument } from '../../../functions/src/toolsets/todo/rules/todo.ts';
import { todoNode } from '../../../functions/src/toolsets/todo/rules/todoChanges.ts';
import { type LossyConnection, LossyConnections } from '../../support/lossyFirestore/connections.ts';
import { defaultOrNightly } from '../../support/nightly.ts';
import '../../support/properties.ts';
import { GraphFixture } from './fixture.ts';

/** One random change. `at` selects the existing item to change. */
const step = fc.record({
  deed: fc.constantFrom(
    ...(['task', 'task', 'todo', 'coding', 'run', 'claim', 'claim', 'complete', 'wait', 'fail'] as const),
    ...(['retry', 'lapse', 'finish', 'delegate', 'delete', 'cancelRun', 'follow'] as const),
  ),
  at: fc.nat(1000),
  /** Number of the commit whose response is lost, or 0 to lose none. */
  loss: fc.constantFrom(0, 0, 0, 1, 2),
});

type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

class History {
  private readonly team: GraphFixture;
  private readonly things: NodeRef[] = [];
  private readonly ann: string;

  constructor(team: GraphFixture, ann: string) {
    this.team = team;
    this.ann = ann;
  }

  async take({ deed, at }: Step): Promise<void> {
    const { team } = this;
    const partOf = at % 5 === 0 ? undefined : this.one(at);
    const part_of = partOf && { part_of: { ...partOf } };
    team.pass(1 + (at % 30));
    switch (deed) {
      case 'task':
        return this.made('task', (await team.createOne({ priority: 1, ...(partOf && { part_of: partOf }) })).id);
      case 'todo': {
        const { task } = await team.ask('todo_add_task', { title: randomUUID(), ...part_of });
        return this.made('todo', (task as { id: string }).id);
      }
      case 'coding': {
        const draft = { tool: 'CLAUDECODE', description: 'Say hello', instructions: 'Kindly', ...part_of };
        const { taskId } = await team.ask('coding_create_task', draft);
        return this.made('task', String(taskId));
      }
      case 'run': {
        const asked = { prompt: randomUUID(), preferences: { agent: 'claude' }, ...part_of };
        const { runId } = await team.ask('orchestration_orchestrate', asked);
        return this.made('run', String(runId));
      }
      case 'claim':
        return void (await team.claimOutcome(this.ann, 60));
      case 'lapse':
        team.pass(3600);
        return void (await team.sweep());
      case 'complete':
      case 'wait': {
        const result = { output: 'Done' };
        return this.report({ kind: 'done', result, whenPartsDone: deed === 'wait' }, at);
      }
      case 'fail':
      case 'retry':
        return this.report({ kind: 'failed', error: 'No', retryable: deed === 'retry' }, at);
      case 'finish': {
        const taskId = this.one(at, 'task')?.id;
        const ended = { taskId: taskId ?? 'none', status: 'completed', result: { tokens: { input: at } } };
        return void (await team.ask('coding_end_task', ended));
      }
      case 'delegate': {
        const { delegated } = await team.ask('todo_delegate', { task_id: this.one(at, 'todo')?.id ?? 'none' });
        return this.made('task', (delegated as { task_id: string }).task_id);
      }
      case 'delete':
        return void (await team.ask('todo_delete_task', { task_id: this.one(at, 'todo')?.id ?? 'none' }));
      case 'cancelRun':
        return void (await team.ask('orchestration_cancel_run', { runId: this.one(at, 'run')?.id ?? 'none' }));
      case 'follow': {
        const ref = this.one(at);
        return ref && team.follow(ref);
      }
    }
  }

  private async report(outcome: Parameters<GraphFixture['settle']>[2], at: number): Promise<void> {
    const agent = await this.team.app.access.ports.agents.find(this.ann);
    const held = Object.keys(agent?.value.held ?? {});
    const taskId = held[at % Math.max(1, held.length)];
    if (taskId !== undefined) await this.team.settle(this.ann, taskId, outcome);
  }

  private made(kind: NodeKind, id: string): void {
    this.things.push({ kind, id });
  }

  private one(at: number, kind?: NodeKind): NodeRef | undefined {
    const some = this.things.filter((thing) => kind === undefined || thing.kind === kind);
    return some[at % Math.max(1, some.length)];
  }
}

/** Computes the graph nodes of all items of the team from the documents of the items. */
async function thingsOf(team: GraphFixture): Promise<readonly GraphNode[]> {
  const database = firestore();
  const [tasks, runs, todos] = await Promise.all([
    database.collection(COLLECTIONS.tasks).where('workspace', '==', team.workspace).get(),
    database.collection(COLLECTIONS.runs).where('workspace', '==', team.workspace).get(),
    database.collection(COLLECTIONS.todos).where('owner_uid', '==', team.leader.owner_uid).get(),
  ]);
  const all = [
    ...tasks.docs.map((one) => taskNode(taskFromDocument(one.data()))),
    ...runs.docs.map((one) => runNode(runFromDocument(one.data()))),
    ...todos.docs.map((one) => todoNode(todoFromDocument(one.data()))),
  ];
  return all.filter(({ ancestors }) => ancestors !== undefined);
}

async function verify(team: GraphFixture): Promise<void> {
  const things = await thingsOf(team);
  const graph = firestore().collection(COLLECTIONS.graph);
  const [inWorkspace, owned] = await Promise.all([
    graph.where('workspace', '==', team.workspace).get(),
    graph.where('owner_uid', '==', team.leader.owner_uid).get(),
  ]);
  const nodes = new Map([...inWorkspace.docs, ...owned.docs].map((one) => [one.id, nodeFromDocument(one.data())]));
  const known = new Map(things.map((thing) => [keyOfNode(thing), thing]));
  for (const [key, node] of nodes) {
    verifyTotals(key, things, nodes);
    assert.equal(node.status, known.get(key)?.status ?? node.status, key);
    const parts = [...nodes.values()].filter(({ part_of: partOf }) => partOf && nodeKey(partOf) === key);
    assert.equal(node.parts, parts.length, key);
  }
  for (const key of known.keys()) assert.ok(nodes.has(key), `${key} has no node`);
  for (const run of things.filter(({ kind }) => kind === 'run')) {
    const journal = (await team.app.orchestration.ports.runs.calls(run.thing_id)).flatMap(
      ({ ending }) => ending?.attempt ?? [],
    );
    const booked = { ...usageOf(journal), ...workOf(journal) };
    assert.deepEqual({ ...run.spent, attempts: run.attempts }, booked, run.thing_id);
  }
}

function verifyTotals(key: string, things: readonly GraphNode[], nodes: ReadonlyMap<string, StoredNode>): void {
  const isIn = ({ kind, thing_id: own, ancestors = [] }: GraphNode | StoredNode) =>
    nodeKey({ kind, id: own }) === key || ancestors.includes(key);
  const below = things.filter(isIn);
  // A deleted to-do no longer has a document, only a node in the graph.
  const missing = [...nodes.values()].filter((one) => one.deleted && isIn(one));
  const counts: Record<string, number> = {};
  for (const { status } of [...below, ...missing]) counts[status] = (counts[status] ?? 0) + 1;
  const {
    counts: reported,
    attempts,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cost_usd: costUsd,
    milliseconds,
  } = nodes.get(key)?.totals ?? assert.fail(key);
  assert.deepEqual(Object.fromEntries(Object.entries(reported).filter(([, count]) => count !== 0)), counts, key);
  const sum = (of: (thing: GraphNode) => number) => below.reduce((total, thing) => total + of(thing), 0);
  assert.deepEqual(
    [attempts, inputTokens, outputTokens, milliseconds],
    [
      sum((thing) => thing.attempts),
      sum(({ spent }) => spent.input_tokens),
      sum(({ spent }) => spent.output_tokens),
      sum(({ spent }) => spent.milliseconds),
    ],
    key,
  );
  assert.ok(Math.abs(costUsd - sum(({ spent }) => spent.cost_usd)) < 1e-9, key);
}

describe('graph totals', function () {
  this.timeout(600_000);

  let lanes: LossyConnections;

  before(async () => {
    lanes = await LossyConnections.open(1);
  });

  after(() => lanes.close());

  it('equal the sums over all items after random changes, even if some lose their response', async () => {
    const histories = fc.array(step, { minLength: 15, maxLength: 45 });
    const done = new Set<Step['deed']>();
    let counted = 0;
    const property = fc.asyncProperty(histories, (steps) =>
      lanes.use(async (lane) => {
        const team = await reported(lane, steps, done);
        counted += (await thingsOf(team)).length;
        await verify(team);
        await team.close();
      }),
    );
    await fc.assert(property, { numRuns: defaultOrNightly(6, { night: 60 }), endOnFailure: true });
    assert.ok(counted > 20, `${counted} items were in a graph`);
    assert.ok(done.size >= 12, `only these kinds of changes succeeded: ${[...done].join(', ')}`);
  });
});

/** Makes the changes as a new team, and returns the team. Impossible changes are rejected and have no effect. */
async function reported({ proxy, database }: LossyConnection, steps: readonly Step[], done: Set<Step['deed']>) {
  proxy.begin();
  const team = await GraphFixture.open(database);
  const ann = await team.join('ann');
  await team.allow(ann, 5);
  const history = new History(team, ann);
  for (const one of steps) {
    proxy.begin(one.loss === 0 ? undefined : { commit: one.loss, status: 'UNAVAILABLE', what: 'answer' });
    const error: unknown = await history.take(one).then(
      () => undefined,
      (why: unknown) => why,
    );
    if (error === undefined) done.add(one.deed);
    else if (!(error instanceof MusterError || error instanceof assert.AssertionError)) throw error;
  }
  proxy.begin();
  await team.settled();
  return team;
}
