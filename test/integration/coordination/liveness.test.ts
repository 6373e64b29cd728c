import assert from 'node:assert/strict';
import type { Database } from 'firebase-admin/database';
import { countedAgent } from '../../../functions/src/agents/rules/agent.ts';
import { DatabasePresence } from '../../../functions/src/agents/store/presence.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { agentPath } from '../../../functions/src/kernel/firestore/paths.ts';
import { PRESENCE, presencePath, realtimeDatabase } from '../../../functions/src/kernel/realtime/database.ts';
import { Team, unkeyed } from './team.ts';

describe('presence', () => {
  let team: Team;
  let ann: string;
  let presence: DatabasePresence;

  beforeEach(() => {
    team = new Team();
    ann = team.agentId('ann');
    presence = another();
  });

  const another = () => new DatabasePresence({ database: realtimeDatabase, clock: { now: () => team.now } });

  const seen = async () => (await presence.lastSeen([ann])).get(ann);

  it('returns when an agent was last seen, and omits agents that were never seen', async () => {
    await presence.touch(ann);
    assert.deepEqual(await presence.lastSeen([ann, team.agentId('bob')]), new Map([[ann, team.now]]));
  });

  it('is written at most once in 30 seconds per agent, by all instances together', async () => {
    await presence.touch(ann);
    const first = team.now;
    const others = Array.from({ length: 5 }, () => another());
    for (const seconds of [1, 10, 18.999]) {
      team.pass(seconds);
      await Promise.all([presence, ...others].map((one) => one.touch(ann)));
      assert.deepEqual(await seen(), first);
    }
    team.pass(0.001);
    await Promise.all(others.map((one) => one.touch(ann)));
    assert.deepEqual(await seen(), team.now);
  });

  it('is written for many agents in one write if they call while the instance waits', async () => {
    const database = await realtimeDatabase();
    const root = database.ref();
    let writes = 0;
    const counting = new Proxy(root, {
      get: (target, name) => {
        if (name === 'update') writes++;
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const counted: Database = Object.create(database, { ref: { value: () => counting } });
    const one = new DatabasePresence({ database: async () => counted, clock: { now: () => team.now } });
    const crowd = Array.from({ length: 60 }, (_, index) => team.agentId(`crowd-${index}`));
    await Promise.all(crowd.map((agent) => one.touch(agent)));
    assert.equal((await presence.lastSeen(crowd)).size, crowd.length);
    assert.ok(writes <= 2, `${writes} writes`);
  });

  it('keeps the later time if a write with an earlier time arrives some minutes later', async () => {
    const late = new DatabasePresence({
      database: async () => {
        const database = await realtimeDatabase();
        const root = database.ref();
        const holding = new Proxy(root, {
          get: (target, name) => {
            const value: unknown = Reflect.get(target, name);
            if (name !== 'update') return typeof value === 'function' ? value.bind(target) : value;
            return async (values: object) => {
              const isFirst = team.now.getTime() === began;
              if (isFirst) {
                team.pass(300);
                await presence.touch(ann);
              }
              await target.update(values);
            };
          },
        });
        const held: Database = Object.create(database, { ref: { value: () => holding } });
        return held;
      },
      clock: { now: () => team.now },
    });
    const began = team.now.getTime();
    await late.touch(ann);
    assert.deepEqual(await seen(), team.now);
  });

  it('is written immediately if the agent has changed its workspace', async () => {
    await presence.touch(ann, 'alpha');
    team.pass(1);
    await another().touch(ann, 'beta');
    assert.deepEqual(await seen(), team.now);
  });

  it('lists the agents that were last seen up to a given time, oldest first', async () => {
    const bob = team.agentId('bob');
    await presence.touch(ann);
    team.pass(10);
    await presence.touch(bob);
    const before = new Date(team.now.getTime() - 1);
    const unseen = await presence.notSeenSince(before, 1000);
    assert.deepEqual([unseen.has(ann), unseen.has(bob)], [true, false]);
    const both = [...(await presence.notSeenSince(team.now, 1000)).keys()];
    assert.ok(both.indexOf(ann) < both.indexOf(bob));
    assert.equal((await presence.notSeenSince(team.now, 1)).size, 1);
  });

  it('is deleted unless the agent was seen in the meantime', async () => {
    await presence.touch(ann);
    const before = team.now;
    team.pass(30);
    await presence.touch(ann);
    assert.equal(await presence.remove(ann, before), false);
    assert.deepEqual(await seen(), team.now);
    assert.equal(await presence.remove(ann, team.now), true);
    assert.equal(await seen(), undefined);
  });
});

describe('the sweep of agents', () => {
  let team: Team;
  let ann: string;

  const status = async (agentId: string) => (await team.app.access.ports.agents.find(agentId))?.value.status;
  const active = async () => (await team.app.services.coordination.status(team.workspace)).agents.active;

  beforeEach(async () => {
    team = new Team();
    ann = await team.join('ann');
  });

  it('marks an agent offline that was not seen for three minutes', async () => {
    const joined = team.now;
    team.pass(179);
    await team.sweep();
    assert.deepEqual([await status(ann), await active()], ['active', 1]);
    team.pass(1);
    await team.sweep();
    const agent = (await team.app.access.ports.agents.find(ann))?.value;
    assert.deepEqual([agent?.status, agent?.last_seen, await active()], ['offline', joined, 0]);
  });

  it('keeps an agent active that sends heartbeats', async () => {
    for (let minute = 0; minute < 5; minute++) {
      team.pass(60);
      await team.app.services.membership.heartbeat(
        team.principal('ann'),
        { workspace: team.workspace, name: ann },
        unkeyed,
      );
      await team.sweep();
    }
    assert.equal(await status(ann), 'active');
  });

  it('marks an agent offline; its next heartbeat, claim or registration marks it active', async () => {
    await team.createOne();
    const returns = [
      // Another caller sends this heartbeat. If the agent itself calls, its credential check already marks it active.
      () => team.app.services.membership.heartbeat(team.leader, { workspace: team.workspace, name: ann }, unkeyed),
      () => team.app.services.liveness.actAs(team.leader, team.workspace, ann),
      () => Promise.all([team.app.access.ports.presence.touch(ann), team.claim(ann)]), // A call of any other tool.
      () => team.join('ann'),
    ];
    for (const comesBack of returns) {
      team.pass(200);
      await team.sweep();
      assert.equal(await status(ann), 'offline');
      await comesBack();
      assert.equal(await status(ann), 'active');
    }
  });

  it('deletes the presence of agents that it marks offline, even on two instances concurrently', async () => {
    team.pass(200);
    await Promise.all([team.sweep(), team.sweep(team.anotherInstance())]);
    await team.sweep();
    assert.deepEqual([await status(ann), (await team.app.access.ports.presence.lastSeen([ann])).size], ['offline', 0]);
  });

  it('keeps an agent active that sends a heartbeat while the sweep runs', async () => {
    team.pass(200);
    const sweeps = [team.sweep(), team.sweep(team.anotherInstance())];
    const beat = team.app.services.membership.heartbeat(
      team.principal('ann'),
      { workspace: team.workspace, name: ann },
      unkeyed,
    );
    await Promise.all([...sweeps, beat]);
    await team.sweep();
    assert.equal(await status(ann), 'active');
    assert.equal((await team.app.access.ports.presence.lastSeen([ann])).size, 1);
  });

  it('marks 1500 agents offline in one run', async () => {
    const { access, kernel } = team.app;
    const ids = Array.from({ length: 1500 }, (_, number) => team.agentId(`of-many-${number}`));
    const known = await access.ports.agents.find(ann);
    assert.ok(known);
    const { value: sample } = known;
    for (let first = 0; first < ids.length; first += 250) {
      const agents = ids.slice(first, first + 250).map((id) => ({ ...sample, id, name: id }));
      await kernel.store.commit([
        ...agents.map((agent) => ({ kind: 'createAgent' as const, agent })),
        ...agents.flatMap((agent) => countedAgent(undefined, agent)),
      ]);
    }
    const seen = Object.fromEntries(ids.map((id) => [id, { last_seen: team.now.getTime(), workspace: 'x' }]));
    await (await realtimeDatabase()).ref(PRESENCE).update(seen);
    team.pass(200);
    const before = kernel.store.committed('replaceAgent');
    await team.sweep();
    assert.equal(kernel.store.committed('replaceAgent') - before, ids.length + 1);
    const found = await access.ports.agents.findAll(ids);
    assert.ok(found.every(({ value }) => value.status === 'offline'));
    assert.equal((await access.ports.presence.lastSeen(ids)).size, 0);
    assert.equal(await active(), 0);
  });

  it('marks 60 agents offline; few commits mark them active again, even if one is unreadable', async () => {
    const { services, access, kernel } = team.app;
    const ids = await Promise.all(Array.from({ length: 60 }, (_, number) => team.join(`fleet-${number}`)));
    for (const id of ids) await access.ports.presence.touch(id);
    team.pass(181);
    await team.sweep();
    const [broken = '', ...others] = ids;
    const online = async () => (await access.ports.directory.counts(team.workspace)).online;
    assert.equal(await online(), 0);
    const before = kernel.store.committed('countAgents');
    await Promise.all(others.map((id) => services.liveness.markOnline(id)));
    assert.equal(await online(), others.length);
    assert.ok(kernel.store.committed('countAgents') - before <= 3);
    team.pass(400);
    await team.sweep();
    await firestore().doc(agentPath(broken)).update({ status: 'lost' });
    await Promise.all(ids.map((id) => services.liveness.markOnline(id)));
    await firestore().doc(agentPath(broken)).delete();
    assert.equal(await online(), others.length);
  });

  it('marks other agents offline even if one agent is unreadable', async () => {
    const bob = await team.join('bob');
    await firestore().doc(agentPath(ann)).update({ held: 'broken' });
    team.pass(200);
    await team.sweep();
    assert.equal(await status(bob), 'offline');
    await firestore().doc(agentPath(ann)).delete();
    await team.sweep();
  });

  it('deletes the presence of an agent that does not exist', async () => {
    const ghost = team.agentId('ghost');
    await team.app.access.ports.presence.touch(ghost);
    team.pass(200);
    await team.sweep();
    assert.equal((await team.app.access.ports.presence.lastSeen([ghost])).size, 0);
  });

  it('deletes a presence entry that contains no time', async () => {
    const strange = team.agentId('strange');
    await (await realtimeDatabase()).ref(presencePath(strange)).set({ hello: true });
    await team.sweep();
    assert.equal((await team.app.access.ports.presence.lastSeen([strange])).size, 0);
  });
});
