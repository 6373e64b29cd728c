import assert from 'node:assert/strict';
import type { PersonRoles, Principal } from '../../../functions/src/identity/rules/principal.ts';
import {
  progressOf,
  unavailableAgents,
  visibilityOf,
} from '../../../functions/src/toolsets/orchestration/rules/runs/visibility.ts';
import { sampleRun, sampleStep } from '../../support/builders.ts';

const ACCESS = { alpha: 'private', beta: 'open' } as const;

const person = (uid: string, roles: Partial<PersonRoles>): Principal => ({
  uid,
  kind: 'person',
  owner_uid: uid,
  maxRole: 'admin',
  owner: { workspaces: {}, access: ACCESS, ...roles },
});

const inAlpha = { owner_uid: 'ben', workspace: 'alpha' };

describe('visibility of a run', () => {
  it('is complete for the owner of the run while the owner has a role in the workspace', () => {
    assert.equal(visibilityOf(person('ben', { workspaces: { alpha: 'viewer' } }), inAlpha), 'all');
    assert.equal(visibilityOf(person('ben', {}), inAlpha), undefined);
    assert.equal(visibilityOf(person('ben', { role: 'admin' }), inAlpha), undefined, 'deployment admin');
    assert.equal(visibilityOf(person('ben', { role: 'viewer' }), { ...inAlpha, workspace: 'beta' }), 'all');
  });

  it("is complete for the owner's agents, unless they are restricted to another workspace", () => {
    const member = person('ben', { workspaces: { alpha: 'worker' } });
    const agent: Principal = { ...member, uid: 'agent:a', kind: 'agent', agent_id: 'a', maxRole: 'worker' };
    assert.equal(visibilityOf(agent, inAlpha), 'all');
    assert.equal(visibilityOf({ ...agent, held_to: 'alpha' }, inAlpha), 'all');
    assert.equal(visibilityOf({ ...agent, held_to: 'beta' }, inAlpha), undefined);
  });

  it('covers only the progress for leaders of the workspace, and nothing for other callers', () => {
    assert.equal(visibilityOf(person('ada', { workspaces: { alpha: 'leader' } }), inAlpha), 'course');
    for (const workspaces of [{ alpha: 'worker' }, { alpha: 'viewer' }, { beta: 'leader' }] as const)
      assert.equal(visibilityOf(person('cyd', { workspaces }), inAlpha), undefined);
    assert.equal(visibilityOf(person('cyd', { role: 'admin', workspaces: { beta: 'leader' } }), inAlpha), undefined);
    const leader = person('ada', { workspaces: { alpha: 'leader' } });
    const agent: Principal = { ...leader, uid: 'agent:a', kind: 'agent', agent_id: 'a', maxRole: 'worker' };
    assert.equal(visibilityOf(agent, inAlpha), undefined, 'a worker agent whose owner is a leader');
  });
});

describe('explanation of a run', () => {
  const waits = (run: Parameters<typeof sampleRun>[0], ...steps: Parameters<typeof sampleStep>[0][]) =>
    progressOf({ run: sampleRun(run), steps: steps.map(sampleStep) }).waits.map(
      ({ why, remedy }) => `${why} ${remedy}`,
    );

  it('distinguishes an exhausted budget from one that running calls have reserved', () => {
    const wait = { key: 'todo-1', since: new Date() };
    const [spent = ''] = waits({ status: 'waiting', budget_wait: { ...wait, is_spent: true } });
    assert.match(spent, /budget of .* is exhausted\. .*system\.setBudget/);
    const [reserved = ''] = waits({ status: 'waiting', budget_wait: { ...wait, is_spent: false } });
    assert.match(reserved, /^Running calls have reserved .* continues when these calls end/);
  });

  it('names the steps that live agents hold, and nothing after the end', () => {
    const held = { name: 'review', task_id: 'task-1' };
    assert.match(
      String(waits({ status: 'waiting' }, held)),
      /"review" .*"task-1"\. access\.explain \{"task": "task-1"\}/,
    );
    assert.deepEqual(waits({ status: 'waiting' }, { ...held, settled_at: new Date() }), []);
    assert.deepEqual(waits({ status: 'cancelled' }, held), []);
  });

  it('names each missing API key only if no agent can be used', () => {
    const agent = (name: string, available: boolean) => {
      return { name, availability: () => (available ? { available } : { available, reason: 'It has no API key.' }) };
    };
    const missing = unavailableAgents([agent('claude', false), agent('gemini', false)]);
    assert.match(missing.map(({ why }) => why).join(), /claude cannot be used\. It has no API key.*gemini/);
    assert.deepEqual(unavailableAgents([agent('claude', false), agent('gemini', true)]), []);
  });
});
