import assert from 'node:assert/strict';
import type { Agent } from '../../../functions/src/access/rules/agent.ts';
import { countedAgent } from '../../../functions/src/access/rules/agent.ts';
import { sampleAgent } from '../samples.ts';

const member = (more: Partial<Agent>): Agent => ({
  ...sampleAgent(),
  workspace: 'alpha',
  coordinationRole: 'worker',
  status: 'active',
  ...more,
});

const moves = (before: Agent | undefined, after: Agent) =>
  countedAgent(before, after).flatMap((change) =>
    change.kind === 'countMembers'
      ? [[change.workspace, change.by.total, change.by.leaders, change.by.active]]
      : [],
  );

describe('counting members', () => {
  it('counts an agent that joins, and one that does not lead, lead', () => {
    assert.deepEqual(moves(undefined, member({})), [['alpha', 1, 0, 1]]);
    assert.deepEqual(moves(member({}), member({ coordinationRole: 'leader' })), [['alpha', 0, 1, 0]]);
  });

  it('moves an agent from one workspace to another', () => {
    assert.deepEqual(moves(member({}), member({ workspace: 'beta' })), [
      ['alpha', -1, 0, -1],
      ['beta', 1, 0, 1],
    ]);
  });

  it('counts who goes offline and comes back', () => {
    assert.deepEqual(moves(member({}), member({ status: 'offline' })), [['alpha', 0, 0, -1]]);
    assert.deepEqual(moves(member({ status: 'offline' }), member({})), [['alpha', 0, 0, 1]]);
  });

  it('counts nothing where nothing moves, and nobody without a part', () => {
    const { coordinationRole: _none, ...stranger } = member({});
    assert.deepEqual(moves(member({}), member({ tasksCompleted: 5 })), []);
    assert.deepEqual(moves(undefined, stranger), []);
  });
});
