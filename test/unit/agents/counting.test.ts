import assert from 'node:assert/strict';
import { type Agent, countedAgent, requireWorkspaceLimit } from '../../../functions/src/agents/rules/agent.ts';
import { sampleAgent } from '../../support/builders.ts';

const member = (more: Partial<Agent>): Agent => ({
  ...sampleAgent(),
  workspace: 'alpha',
  parts: { alpha: 'worker' },
  status: 'active',
  ...more,
});

const counts = (before: Agent | undefined, after: Agent) =>
  countedAgent(before, after).flatMap((change) => (change.kind === 'countAgents' ? [change] : []));

/** Returns the changes to the counts of agents with a role. */
const moves = (before: Agent | undefined, after: Agent) =>
  counts(before, after).flatMap(({ workspace, by: { total, leaders, active } }) =>
    [total, leaders, active].some((count) => count !== 0) ? [[workspace, total, leaders, active]] : [],
  );

/** Returns the changes to the counts of all agents in a workspace. */
const arrivals = (before: Agent | undefined, after: Agent) =>
  counts(before, after).flatMap(({ workspace, by: { registered, online } }) =>
    registered !== 0 || online !== 0 ? [[workspace, registered, online]] : [],
  );

describe('agent counts', () => {
  it('increase when an agent joins a workspace or becomes its leader', () => {
    assert.deepEqual(moves(undefined, member({})), [['alpha', 1, 0, 1]]);
    assert.deepEqual(moves(member({}), member({ parts: { alpha: 'leader' } })), [['alpha', 0, 1, 0]]);
  });

  it('decrease in one workspace and increase in another when an agent moves', () =>
    assert.deepEqual(moves(member({}), member({ parts: { beta: 'worker' } })), [
      ['alpha', -1, 0, -1],
      ['beta', 1, 0, 1],
    ]));

  it('include an agent in each workspace in which the agent has a role', () => {
    assert.deepEqual(moves(member({}), member({ parts: { alpha: 'worker', beta: 'leader' } })), [['beta', 1, 1, 1]]);
    const both = { parts: { alpha: 'worker', beta: 'worker' } } as const;
    assert.deepEqual(moves(member(both), member({ ...both, status: 'offline' })), [
      ['alpha', 0, 0, -1],
      ['beta', 0, 0, -1],
    ]);
  });

  it('change when an agent goes offline and when it comes back online', () => {
    assert.deepEqual(moves(member({}), member({ status: 'offline' })), [['alpha', 0, 0, -1]]);
    assert.deepEqual(moves(member({ status: 'offline' }), member({})), [['alpha', 0, 0, 1]]);
  });

  it('include an agent without a role as registered and online, and ignore all other changes', () => {
    const stranger = member({ parts: {} });
    assert.deepEqual(counts(member({}), member({ tasks_completed: 5 })), []);
    assert.deepEqual(moves(undefined, stranger), []);
    assert.deepEqual(arrivals(undefined, stranger), [['alpha', 1, 1]]);
  });

  it('include an agent once in its home workspace and in each workspace in which it has a role', () => {
    const { workspace: _, ...homeless } = member({ parts: {} });
    assert.deepEqual(arrivals(undefined, homeless), [['default', 1, 1]]);
    assert.deepEqual(arrivals(undefined, member({})), [['alpha', 1, 1]]);
    const joined = member({ parts: { alpha: 'worker', beta: 'leader' } });
    assert.deepEqual(arrivals(member({}), joined), [['beta', 1, 1]]);
    assert.deepEqual(arrivals(joined, { ...joined, status: 'offline' }), [
      ['alpha', 0, -1],
      ['beta', 0, -1],
    ]);
    assert.deepEqual(arrivals(joined, member({ workspace: 'gamma', parts: {} })), [
      ['alpha', -1, -1],
      ['beta', -1, -1],
      ['gamma', 1, 1],
    ]);
  });

  it('cover at most ten workspaces of one agent', () => {
    const inMany = (count: number) =>
      member({ parts: Object.fromEntries(Array.from({ length: count }, (_, at) => [`ws-${at}`, 'worker'])) });
    const [nine, ten] = [inMany(9), inMany(10)];
    requireWorkspaceLimit(undefined, nine);
    requireWorkspaceLimit(ten, { ...ten, status: 'offline' });
    assert.throws(() => requireWorkspaceLimit(nine, ten), { code: 'QUOTA_EXCEEDED' });
    assert.throws(() => requireWorkspaceLimit(undefined, ten), { code: 'QUOTA_EXCEEDED' });
  });
});
