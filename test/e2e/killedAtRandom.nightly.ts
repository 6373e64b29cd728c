/**
 * Forty instances are killed at random while eight agents work at a graph of 150 tasks. They send no idempotency keys
 * and do what answers and errors tell them: everything is done once, and what is counted is true.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { z } from 'zod';
import { addCallers, newProject, type Project } from '../../bench/seed.ts';
import { bearerOf } from './support/agents.ts';
import { Fleet } from './support/fleet.ts';
import { type ClaimedTask, ObedientAgent } from './support/obedientAgent.ts';
import { layeredGraph } from './support/taskGraph.ts';

const GRAPH = layeredGraph(10, 15);
const AGENTS = 8;
const KILLS = 40;
const CALLS_PER_KILL = 16;

/** Every other agent may hold as many at once, the others one. */
const HELD_AT_ONCE = 3;

/** The first layer's, so that not everything waits for their second attempt. */
const failsOnce = (place: number): boolean => place < 15 && place % 4 === 1;
const isDiscovery = (place: number): boolean => place % 5 === 0;

/** More than the wait before the first retry. */
const RETRY_MS = 31_000;

const taskList = z.object({
  tasks: z.array(
    z.looseObject({
      id: z.string(),
      description: z.string(),
      status: z.string(),
      claim_epoch: z.number().default(0), // of a task that nobody has claimed
      dependencies: z.array(z.string()),
    }),
  ),
});
const created = z.object({ task: z.object({ id: z.string() }) });
const discoveryList = z.object({ discoveries: z.array(z.looseObject({ content: z.string() })) });
const statusAnswer = z.looseObject({
  tasks: z.record(z.string(), z.number()),
  total_tasks: z.number(),
});

const placeOf = (task: { readonly description: string }): number =>
  Number(task.description.replace('Task ', ''));

describe('a graph of 150 tasks while instances are killed at random', () => {
  const directory = mkdtempSync(`${tmpdir()}/muster-`);
  const clockFile = `${directory}/clock`;
  /** What the agents did, by the place of the task and the attempt: the effects that must not be doubled. */
  const effects: string[] = [];
  const agents: ObedientAgent[] = [];
  let project: Project;
  let fleet: Fleet;
  let leader: ObedientAgent;
  let movedMs = 0;

  before(async () => {
    project = newProject('killed-at-random');
    const env = { ...project.env, FUNCTIONS_EMULATOR: 'true', MUSTER_CLOCK_FILE: clockFile };
    fleet = new Fleet({ env, kills: KILLS, callsPerKill: CALLS_PER_KILL });
    await fleet.start();
    const urlOfNext = () => fleet.urlOfNext();
    const [caller] = await addCallers(project, 'leader');
    assert.ok(caller);
    leader = new ObedientAgent(caller.agentId, caller.credential, urlOfNext);
    await leader.ask('coordination.init_coordination', { goal: 'Survive' });
    for (let number = 0; number < AGENTS; number++) {
      // A registration that is repeated gives new credentials to the same agent.
      const registered = await leader.ask('onboarding.registerAgent', {
        agentInfo: { name: `worker-${number}`, type: 'developer', version: '1.0.0' },
        capabilities: [{ name: 'coding', category: 'general' }],
        configuration: { maxConcurrentTasks: number % 2 === 0 ? 1 : HELD_AT_ONCE },
        role: 'worker',
      });
      const id = String(registered['agentId']);
      const agent = new ObedientAgent(id, bearerOf(registered['credentials']), urlOfNext);
      await agent.ask('coordination.register_agent', { agent_id: id, role: 'worker' });
      agents.push(agent);
    }
  });
  after(async () => {
    await fleet?.end();
    await project?.firestore.terminate();
    rmSync(directory, { recursive: true, force: true });
  });

  async function allTasks() {
    return taskList.parse(await leader.ask('coordination.get_all_tasks', { limit: 500 })).tasks;
  }

  async function createAll(): Promise<void> {
    const ids: string[] = [];
    for (const { description, priority, dependsOn } of GRAPH) {
      const dependencies = dependsOn.map((place) => ids[place] ?? '');
      const id = await leader.makeOnce(
        'coordination.create_task',
        { description, priority, dependencies },
        {
          read: (answer) => created.parse(answer).task.id,
          look: async () => (await allTasks()).find((task) => task.description === description)?.id,
        },
      );
      ids.push(id);
    }
  }

  /** Claims what it may hold, does it, and reports, until everything is done. */
  async function work(agent: ObedientAgent, most: number): Promise<void> {
    for (;;) {
      const inHand = await claimAndStart(agent, most);
      for (const task of inHand) await finish(agent, task);
      if (inHand.length > 0) continue;
      const { tasks } = statusAnswer.parse(await agent.ask('coordination.get_status'));
      if (tasks['done'] === GRAPH.length) return;
      await agent.pause();
    }
  }

  async function claimAndStart(agent: ObedientAgent, most: number): Promise<readonly ClaimedTask[]> {
    const inHand: ClaimedTask[] = [];
    while (inHand.length < most) {
      const task = await agent.claim();
      if (task === undefined) break;
      assert.ok(!inHand.some(({ id }) => id === task.id), 'it is not given what it has started');
      await agent.start(task);
      inHand.push(task);
    }
    return inHand;
  }

  async function finish(agent: ObedientAgent, task: ClaimedTask): Promise<void> {
    const place = placeOf(task);
    effects.push(`${place} ${task.claim_epoch}`);
    if (failsOnce(place) && task.claim_epoch === 1) {
      await agent.failRetryably(task, 'The test database is not reachable');
      movedMs += RETRY_MS;
      writeFileSync(clockFile, String(movedMs));
      return;
    }
    if (isDiscovery(place)) await discover(agent, `Found at ${place}`);
    await agent.complete(task, `Done by ${agent.id}`);
  }

  async function discover(agent: ObedientAgent, content: string): Promise<void> {
    const discovery = { agent_id: agent.id, content };
    await agent.makeOnce('coordination.add_discovery', discovery, {
      read: () => content,
      look: async () => (await discoveries(agent)).find((found) => found === content),
    });
  }

  async function discoveries(agent: ObedientAgent): Promise<readonly string[]> {
    const answer = await agent.ask('coordination.get_discoveries', { limit: 500 });
    return discoveryList.parse(answer).discoveries.map(({ content }) => content);
  }

  it('is done, each task once', async () => {
    await createAll();
    await Promise.all(agents.map((agent, number) => work(agent, number % 2 === 0 ? 1 : HELD_AT_ONCE)));
    assert.equal(fleet.kills, KILLS);
    assert.ok(
      [leader, ...agents].some(({ losses }) => losses > 0),
      'calls were lost',
    );

    const tasks = await allTasks();
    const expected = GRAPH.map((_, place) => place);
    assert.deepEqual(
      tasks.map(placeOf).sort((one, other) => one - other),
      expected,
    );
    for (const task of tasks) {
      assert.equal(task.status, 'done', task.description);
      assert.equal(task.claim_epoch, failsOnce(placeOf(task)) ? 2 : 1, task.description);
    }
    const attempts = expected.flatMap((place) => [`${place} 1`, ...(failsOnce(place) ? [`${place} 2`] : [])]);
    assert.deepEqual([...effects].sort(), attempts.sort());
    const found = expected.filter(isDiscovery).map((place) => `Found at ${place}`);
    assert.deepEqual([...(await discoveries(leader))].sort(), found.sort());
  });

  it('is counted right, and nobody holds anything', async () => {
    const status = statusAnswer.parse(await leader.ask('coordination.get_status'));
    const done = await project.firestore.collection('tasks').where('status', '==', 'done').count().get();
    assert.equal(done.data().count, GRAPH.length);
    assert.equal(status.total_tasks, GRAPH.length);
    assert.deepEqual(status.tasks, {
      available: 0,
      claimed: 0,
      in_progress: 0,
      done: GRAPH.length,
      failed: 0,
    });
    const stored = await Promise.all(
      agents.map(async ({ id }) => (await project.firestore.doc(`agents/${id}`).get()).data()),
    );
    assert.deepEqual(
      stored.map((agent) => agent?.['held']),
      agents.map(() => ({})),
    );
    const completed = stored.map((agent) => Number(agent?.['tasks_completed']));
    assert.equal(
      completed.reduce((sum, count) => sum + count, 0),
      GRAPH.length,
    );
  });
});
