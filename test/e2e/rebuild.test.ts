/** `npm run rebuild` restores deleted derived data, even while agents work. */
import assert from 'node:assert/strict';
import { z } from 'zod';
import { compose } from '../../functions/src/composition/compose.ts';
import { firestore } from '../../functions/src/kernel/firestore/client.ts';
import {
  agentCountsPath,
  COLLECTIONS,
  countersPath,
  queueShardsPath,
} from '../../functions/src/kernel/firestore/paths.ts';
import {
  ACCESS_PEOPLE,
  ACCESS_WORKSPACES,
  PRESENCE,
  presencePath,
  realtimeDatabase,
  taskQueuePath,
} from '../../functions/src/kernel/realtime/database.ts';
import { KINDS } from '../../scripts/rebuild/arguments.ts';
import { rebuild as rebuildHere } from '../../scripts/rebuild/rebuild.ts';
import { runBeside } from '../integration/operator/commands.ts';
import { externalServicesOf } from '../support/externalServices.ts';
import { registerAgent, type TestAgent } from './support/agents.ts';
import { everyItem, succeed } from './support/calls.ts';
import { type Connection, connect, ERAS } from './support/clients.ts';
import { PROJECT } from './support/emulator.ts';
import { endpointUrl, newWorkspace, tokenOf } from './support/endpoint.ts';
import { mirrored } from './support/mirror.ts';
import { layeredGraph } from './support/taskGraph.ts';
import { eventually } from './support/waiting.ts';
import { startWorker } from './support/workers.ts';

/** Rebuilds all derived data in this process, and returns the output. */
async function rebuild(isDry = false): Promise<string> {
  const printed: string[] = [];
  await rebuildHere(KINDS, { isDry, say: (sentence) => printed.push(sentence) });
  return printed.join('\n');
}

/** Rebuilds all derived data in a separate process, as an operator does. */
const rebuildBeside = (): Promise<string> => runBeside('rebuild', [...KINDS, '--project', PROJECT]);

/** Returns the numbers of corrected items in the output, by the name at the start of their line. */
function wrongIn(output: string): Readonly<Record<string, number>> {
  const lines = output.matchAll(/^(\S.*): \d+ checked, (\d+) (?:to correct|corrected)\.$/gm);
  return Object.fromEntries([...lines].map(([, what, wrong]) => [what, Number(wrong)]));
}

const { coordination, access, system } = compose(externalServicesOf());

/** A workspace of the test, whose derived data can be read and deleted. */
class Derived {
  readonly workspace = newWorkspace('rebuilt');
  readonly url = endpointUrl('/coordination', { workspace: this.workspace });
  private session = '';

  async open(): Promise<void> {
    const open = await coordination.ports.sessions.current(this.workspace);
    assert.ok(open);
    this.session = open.session.id;
  }

  async counted() {
    const {
      stamp: _,
      waits: __,
      ages: ___,
      ...counters
    } = await coordination.ports.sessions.counters(this.workspace, this.session);
    return { counters, agents: await access.ports.directory.counts(this.workspace) };
  }

  async everything() {
    const database = await realtimeDatabase();
    const [queue, people, workspaces, presence] = await Promise.all(
      [taskQueuePath(this.workspace), ACCESS_PEOPLE, ACCESS_WORKSPACES, PRESENCE].map(
        async (path): Promise<unknown> => (await database.ref(path).get()).val(),
      ),
    );
    const skills = await this.skills();
    return {
      ...(await this.counted()),
      queue,
      access: { people, workspaces },
      // The author of a skill is omitted, because a rebuild can only restore its last author.
      skills: Object.fromEntries(skills.map((skill) => [skill.id, { ...skill.data(), author: '' }])),
      seen: Object.keys(Object(presence)).sort(),
    };
  }

  async skills() {
    const all = firestore().collection(COLLECTIONS.skills);
    return (await all.where('workspace', '==', this.workspace).get()).docs;
  }

  /** @param paths paths of the Realtime Database */
  async delete(...paths: readonly string[]): Promise<void> {
    await (await realtimeDatabase()).ref().update(Object.fromEntries(paths.map((path) => [path, null])));
  }

  /** Deletes the shards of the queue version. Then calls that add tasks get an error that asks for a retry. */
  async deleteGates(): Promise<void> {
    const { docs } = await firestore().collection(queueShardsPath(this.workspace, this.session)).get();
    await Promise.all(docs.map(({ ref }) => ref.delete()));
  }

  async deleteCounters(): Promise<void> {
    const batch = firestore().batch();
    for (const path of [countersPath(this.workspace, this.session), agentCountsPath(this.workspace)])
      for (const { ref } of (await firestore().collection(path).get()).docs) batch.delete(ref);
    for (const { ref } of await this.skills()) batch.delete(ref);
    await batch.commit();
  }
}

const TASK = z.looseObject({ id: z.string() });

describe('npm run rebuild', () => {
  const derived = new Derived();
  let leader: Connection;
  let agents: readonly TestAgent[];

  before(async () => {
    leader = await connect('client 2026-07-28', derived.url, await tokenOf('leader'));
    await succeed(leader, 'init_coordination', { goal: 'Be made again' });
    await derived.open();
    agents = await Promise.all([
      registerAgent('rebuilt', { capabilities: ['coding', 'Testing'] }),
      registerAgent('rebuilt', { capabilities: ['coding'] }),
      registerAgent('rebuilt', { capabilities: ['coding'] }),
    ]);
    for (const agent of agents) await succeed(leader, 'register_agent', { agent_id: agent.id, role: 'worker' });
    const tasks = layeredGraph(3, 4).map(({ description, priority, dependsOn }) => {
      return { description, priority, dependencies: dependsOn.map((place) => `task-${place + 1}`) };
    });
    await succeed(leader, 'create_tasks_batch', { tasks });
    await succeed(leader, 'add_discovery', { agent_id: agents[0]?.id, content: 'All of it follows' });
    for (const [index, agent] of agents.entries()) {
      const { task } = await succeed(leader, 'claim_task', { agent_id: agent.id });
      const { id: task_id } = TASK.parse(task);
      await succeed(leader, 'start_task', { agent_id: agent.id, task_id });
      if (index === 0) await succeed(leader, 'complete_task', { agent_id: agent.id, task_id, output: 'Yes' });
      if (index === 1)
        await succeed(leader, 'fail_task', { agent_id: agent.id, task_id, error: 'No', retryable: false });
    }
    await eventually('the mirror contains only the last task of the first layer', async () =>
      (await mirrored(derived.workspace)).length === 1 ? true : undefined,
    );
    await rebuild(); // Other tests leave derived data whose source no longer exists.
  });
  after(async () => {
    await leader?.close();
    // Deletes the stored outage. For five minutes, it would prevent other tests from marking agents offline.
    await system.ports.sweepRecord.saveOutage(undefined);
  });

  it('restores all deleted derived data, and exactly as many items as a dry run reports', async () => {
    const before = await derived.everything();
    assert.equal(before.counters.counts.done, 1);
    assert.equal(before.agents.total, 3);
    await derived.delete(taskQueuePath(derived.workspace), ACCESS_PEOPLE, ACCESS_WORKSPACES, PRESENCE);
    await derived.deleteCounters();
    await derived.deleteGates();
    const missing = await derived.everything();
    assert.deepEqual([missing.queue, missing.seen, missing.agents.total, missing.skills], [null, [], 0, {}]);

    const reported = wrongIn(await rebuild(true));
    assert.deepEqual(await derived.everything(), missing, 'a dry run changes nothing');
    const done = wrongIn(await rebuild());
    assert.deepEqual(Object.keys(done), Object.keys(reported));
    for (const [what, wrong] of Object.entries(done)) assert.equal(reported[what], wrong, what);
    const after = await derived.everything();
    for (const [index, { id }] of agents.entries()) assert.ok(after.seen.includes(id), `worker ${index}`);
    assert.deepEqual({ ...after, seen: [] }, { ...before, seen: [] });
  });

  it('corrects nothing if it runs again right after a rebuild', async () => {
    const before = await derived.everything();
    const wrong = Object.values(wrongIn(await rebuildBeside()));
    assert.ok(wrong.length >= 8);
    assert.deepEqual(new Set(wrong), new Set([0]));
    assert.deepEqual(await derived.everything(), before);
  });

  it('restores deleted presence, so that no agent seems offline; deletes it for unknown agents', async () => {
    const [agent] = agents;
    assert.ok(agent);
    const database = await realtimeDatabase();
    await database
      .ref()
      .update({
        [presencePath(agent.id)]: null,
        [presencePath('nobody-knows')]: { last_seen: Date.now(), workspace: 'default' },
      });
    const began = Date.now();
    await rebuild();
    assert.equal((await database.ref(presencePath('nobody-knows')).get()).val(), null);
    assert.ok((await database.ref(presencePath(agent.id)).get()).exists());
    const { outage } = await system.ports.sweepRecord.read();
    assert.ok(outage?.back_at !== undefined && outage.back_at.getTime() >= began);
  });

  it('loses and duplicates no task while agents claim and complete tasks', async () => {
    const busy = new Derived();
    const lead = await connect('client 2026-07-28', busy.url, await tokenOf('leader'));
    try {
      await succeed(lead, 'init_coordination', { goal: 'Go on meanwhile' });
      await busy.open();
      const graph = layeredGraph(3, 12);
      const tasks = graph.map(({ description, priority, dependsOn }) => {
        return { description, priority, dependencies: dependsOn.map((place) => `task-${place + 1}`) };
      });
      await succeed(lead, 'create_tasks_batch', { tasks });
      const team = await Promise.all([1, 2, 3].map(() => registerAgent('busy')));
      // Workers would exit if the counters showed no open task. So the counters are deleted before the workers start.
      await busy.deleteCounters();
      await busy.delete(taskQueuePath(busy.workspace));
      const [era] = ERAS;
      const workers = team.map((agent) => startWorker({ era, url: busy.url, agent, leaseSeconds: 600 }));
      let rounds = 0;
      let isWorking = true;
      const working = Promise.all(workers.map(({ ended }) => ended)).finally(() => {
        isWorking = false;
      });
      while (isWorking) {
        await rebuildBeside();
        rounds++;
      }
      assert.deepEqual(await working, [0, 0, 0]);
      assert.ok(rounds > 0);
      const done = await everyItem(lead, 'get_results', 'results');
      assert.equal(done.length, graph.length);
      const { counters, agents: counted } = await busy.counted();
      assert.deepEqual([counters.counts.done, counters.counts.available, counters.counts.claimed], [36, 0, 0]);
      assert.equal(counted.total, 3);
      await eventually('the mirror is empty', async () =>
        (await mirrored(busy.workspace)).length === 0 ? true : undefined,
      );
      assert.deepEqual(new Set(Object.values(wrongIn(await rebuild()))), new Set([0]));
    } finally {
      await lead.close();
    }
  });
});
