/** Onboarding checklist of a new agent, and the progress on that checklist. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { AGENT_TYPES, type Agent } from '../../../functions/src/agents/rules/agent.ts';
import { ROLES } from '../../../functions/src/identity/rules/role.ts';
import {
  type ChecklistItem,
  checklist,
  type Facts,
  progressOf,
} from '../../../functions/src/toolsets/onboarding/rules/onboarding.ts';
import { START, sampleAgent, secondsAfterStart } from '../../support/builders.ts';
import { forAll } from '../../support/properties.ts';

const itemsOf = (changes: Partial<Agent> = {}, acts: Omit<Facts, 'agent'> = {}) =>
  checklist({ agent: sampleAgent(changes), ...acts });

const ticked = (items: readonly ChecklistItem[]) => items.filter(({ completed }) => completed).map(({ id }) => id);
const required = (items: readonly ChecklistItem[]) => items.filter((item) => item.required).map(({ id }) => id);

describe('onboarding checklist', () => {
  it("marks an item as done by the agent's actions, with the time of the action", () => {
    assert.deepEqual(ticked(itemsOf()), ['register']);
    const milestones = { seen: secondsAfterStart(1), joined: secondsAfterStart(2), claimed: secondsAfterStart(3) };
    const items = itemsOf(
      { milestones, last_completed_at: secondsAfterStart(4) },
      { firstDiscovery: secondsAfterStart(5) },
    );
    const rows = items.map(({ id, completedAt }) => [id, (Number(completedAt) - START.getTime()) / 1000]);
    assert.deepEqual(rows, [
      ['register', 0],
      ['connect', 1],
      ['join', 2],
      ['claim', 3],
      ['complete', 4],
      ['discover', 5],
    ]);
    const later = itemsOf({
      milestones: { ...milestones, completed: secondsAfterStart(4) },
      last_completed_at: secondsAfterStart(9),
    });
    assert.deepEqual(later.find(({ id }) => id === 'complete')?.completedAt, secondsAfterStart(4));
  });

  it("requires different items depending on the agent's role", () => {
    const work = ['register', 'connect', 'join', 'claim', 'complete'];
    assert.deepEqual(required(itemsOf({ type: 'developer' })), work);
    assert.deepEqual(required(itemsOf({ type: 'specialist' })), work);
    assert.deepEqual(required(itemsOf({ type: 'researcher' })), [...work, 'discover']);
    assert.deepEqual(required(itemsOf({ type: 'analyst' })), [...work, 'discover']);
    assert.deepEqual(required(itemsOf({ type: 'coordinator' })), work);
    assert.deepEqual(required(itemsOf({ type: 'coordinator', role: 'leader' })), [
      'register',
      'connect',
      'join',
      'create',
    ]);
    assert.deepEqual(required(itemsOf({ role: 'viewer' })), ['register', 'connect']);
  });

  it('contains the call with which the agent completes its held task', () => {
    const complete = (changes: Partial<Agent>) => itemsOf(changes).find(({ id }) => id === 'complete');
    assert.equal(complete({})?.call?.tool, 'coordination.claim_task');
    const held = { 'task-7': { session: 's', claim_epoch: 1 } };
    assert.deepEqual(complete({ held })?.call, {
      tool: 'coordination.complete_task',
      args: { agent_id: 'terminal-2', task_id: 'task-7', output: 'Describe the result.' },
    });
  });

  it('makes an item depend only on earlier items', () => {
    const kinds = fc.record({ type: fc.constantFrom(...AGENT_TYPES), role: fc.constantFrom(...ROLES) });
    forAll(kinds, (kind) => {
      const items = itemsOf(kind);
      const ids: readonly string[] = items.map(({ id }) => id);
      assert.equal(new Set(ids).size, ids.length);
      for (const [index, { dependencies }] of items.entries())
        for (const id of dependencies) assert.ok(ids.slice(0, index).includes(id));
    });
  });
});

describe('progress on the onboarding checklist', () => {
  const item = fc
    .record({ completed: fc.boolean(), required: fc.boolean() })
    .map(
      (changes): ChecklistItem => ({
        id: 'claim',
        category: 'work',
        title: 'An item',
        description: 'To do.',
        dependencies: [],
        ...changes,
      }),
    );

  it('is the exact percentage, and 100 only if all items are done', () => {
    forAll(fc.array(item, { maxLength: 12 }), (items) => {
      const { completed, total, percentage, requiredRemaining } = progressOf(items);
      assert.deepEqual([completed, total], [ticked(items).length, items.length]);
      assert.ok(Number.isInteger(percentage) && percentage >= 0 && percentage <= 100);
      assert.equal(percentage === 100, completed === total);
      assert.equal(requiredRemaining, items.filter((one) => one.required && !one.completed).length);
    });
    assert.equal(progressOf([]).percentage, 100);
    const third = [true, false, false].map((completed) => ({ ...itemsOf()[0], completed }) as ChecklistItem);
    assert.equal(progressOf(third).percentage, 33);
  });
});
