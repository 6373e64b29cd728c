/** Races between the agent sweep and an agent's calls. Simulating the clock cannot cause such races. */
import assert from 'node:assert/strict';
import type { AccessPorts } from '../../../functions/src/access/rules/ports.ts';
import type { Agent } from '../../../functions/src/agents/rules/agent.ts';
import { AgentLiveness } from '../../../functions/src/agents/rules/liveness.ts';
import { systemRandomness } from '../../../functions/src/kernel/platform.ts';
import type { PresenceHealth } from '../../../functions/src/kernel/sweep.ts';
import { START, sampleAgent, secondsAfterStart, versionOf } from '../../support/builders.ts';
import { portsOf } from '../../support/ports.ts';
import { sweepContextAt } from '../kernel/sweepContext.ts';

describe('agent sweep', () => {
  let agent: Agent;
  let written: Agent['status'][];
  let forgotten: boolean;
  let unseen: Map<string, Date>;
  let errors: string[];
  let liveness: AgentLiveness;

  beforeEach(() => {
    agent = sampleAgent();
    [written, errors, forgotten] = [[], [], true];
    unseen = new Map([[agent.id, START]]);
    const agents = {
      find: async (id: string) => {
        if (id !== agent.id) throw new Error('unreadable');
        return versionOf(agent);
      },
      findAll: (ids: readonly string[]) => Promise.all(ids.map(agents.find)),
    };
    liveness = new AgentLiveness(
      portsOf<AccessPorts>({
        agents,
        store: {
          commit: async ([change]) => {
            assert.ok(change?.kind === 'replaceAgent');
            agent = change.agent;
            written.push(agent.status);
          },
        },
        presence: {
          touch: async () => {},
          lastSeen: async () => new Map(),
          notSeenSince: async (before) => {
            assert.deepEqual(before, secondsAfterStart(1000 - 180));
            return unseen;
          },
          remove: async () => forgotten,
          check: async () => {},
        },
        clock: { now: () => secondsAfterStart(1000) },
        randomness: systemRandomness,
        log: { info() {}, warn() {}, error: (event) => void errors.push(event) },
      }),
    );
  });

  const sweep = async (presence: PresenceHealth = 'trusted') => {
    const turn = sweepContextAt(secondsAfterStart(1000), { presence: Promise.resolve(presence) });
    return (await liveness.sweepJob.run(turn)).counts['offline'];
  };

  it('marks no agent as offline if the presence data is not reliable', async () =>
    assert.deepEqual([await sweep('away'), await sweep('back'), written], [0, 0, []]));

  it('marks a silent agent as offline, with the time of its last heartbeat', async () => {
    assert.equal(await sweep(), 1);
    assert.deepEqual([written, agent.last_seen], [['offline'], START]);
  });

  it('marks an agent as active again if the agent called before its presence was deleted', async () => {
    forgotten = false;
    assert.equal(await sweep(), 0);
    assert.deepEqual(written, ['offline', 'active']);
  });

  it('writes nothing for an agent that is already offline', async () => {
    agent = sampleAgent({ status: 'offline' });
    await sweep();
    assert.deepEqual(written, []);
  });

  it('logs an agent that cannot be marked, and continues with the next agent', async () => {
    unseen = new Map([
      ['broken', START],
      [agent.id, START],
    ]);
    assert.equal(await sweep(), 1);
    assert.deepEqual([written, errors], [['offline'], ['liveness_failed']]);
  });
});
