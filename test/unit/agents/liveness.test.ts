/** The sweep of agents at the moments that no clock can arrange: an agent comes back in the middle. */
import assert from 'node:assert/strict';
import type { AccessPorts } from '../../../functions/src/access/rules/ports.ts';
import type { Agent } from '../../../functions/src/agents/rules/agent.ts';
import { AgentLiveness } from '../../../functions/src/agents/rules/liveness.ts';
import { systemRandomness } from '../../../functions/src/kernel/platform.ts';
import type { PresenceHealth } from '../../../functions/src/kernel/sweep.ts';
import { START, sampleAgent, secondsAfterStart, versionOf } from '../../support/builders.ts';
import { portsOf } from '../../support/ports.ts';
import { turnAt } from '../kernel/turn.ts';

describe('the sweep of agents', () => {
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
          unseenSince: async (before) => {
            assert.deepEqual(before, secondsAfterStart(1000 - 180));
            return unseen;
          },
          forget: async () => forgotten,
          check: async () => {},
        },
        clock: { now: () => secondsAfterStart(1000) },
        randomness: systemRandomness,
        log: { info() {}, warn() {}, error: (event) => void errors.push(event) },
      }),
    );
  });

  const sweep = async (presence: PresenceHealth = 'trusted') => {
    const turn = turnAt(secondsAfterStart(1000), { presence: Promise.resolve(presence) });
    return (await liveness.part.run(turn)).counts['offline'];
  };

  it('takes nobody for dead of whom presence says nothing', async () => {
    assert.deepEqual([await sweep('away'), await sweep('back'), written], [0, 0, []]);
  });

  it('marks one offline, as last seen then', async () => {
    assert.equal(await sweep(), 1);
    assert.deepEqual([written, agent.last_seen], [['offline'], START]);
  });

  it('marks one active again that was seen before it was forgotten', async () => {
    forgotten = false;
    assert.equal(await sweep(), 0);
    assert.deepEqual(written, ['offline', 'active']);
  });

  it('writes nothing of one that is offline already', async () => {
    agent = sampleAgent({ status: 'offline' });
    await sweep();
    assert.deepEqual(written, []);
  });

  it('tells of one that cannot be marked, and goes on', async () => {
    unseen = new Map([
      ['broken', START],
      [agent.id, START],
    ]);
    assert.equal(await sweep(), 1);
    assert.deepEqual([written, errors], [['offline'], ['liveness_failed']]);
  });
});
