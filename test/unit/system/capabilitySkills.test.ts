import assert from 'node:assert/strict';
import fc from 'fast-check';
import { skillChanges } from '../../../functions/src/agents/rules/agent.ts';
import type { Change } from '../../../functions/src/composition/changes.ts';
import { sampleAgent } from '../../support/builders.ts';
import { forAll } from '../../support/properties.ts';

const having = (...names: string[]) =>
  sampleAgent({ capability_details: names.map((name) => ({ name, category: 'work' })) });

describe('changes to the list of skills when an agent registers', () => {
  it('are empty if the agent declares the same capabilities again', () =>
    assert.deepEqual(skillChanges(having('a', 'B'), having('a', 'B')), []));

  it('replace a changed description without counting the agent a second time', () => {
    const after = sampleAgent({ creator: 'Ada', capability_details: [{ name: 'a', category: 'play' }] });
    const [change, ...more] = skillChanges(having('a'), after);
    assert.deepEqual(more, []);
    assert.deepEqual(change, {
      kind: 'offerSkill',
      skill: { id: 'capability.a', workspace: 'default', name: 'a', category: 'play', version: '1.0.0', author: 'Ada' },
      agents: 0,
    });
  });

  it('add each capability in each workspace of the agent, and remove it when the agent leaves', () => {
    const before = having('a');
    const inBoth = { ...before, parts: { alpha: 'worker' } } as const;
    assert.deepEqual(skillChanges(before, inBoth).map(movement), [['capability.a@alpha', 1]]);
    assert.deepEqual(
      skillChanges(inBoth, { ...inBoth, capability_details: having('b').capability_details }).map(movement),
      [
        ['capability.b', 1],
        ['capability.a', -1],
        ['capability.b@alpha', 1],
        ['capability.a@alpha', -1],
      ],
    );
    assert.deepEqual(skillChanges(inBoth, { ...before, workspace: 'beta' }).map(movement), [
      ['capability.a', -1],
      ['capability.a@alpha', -1],
      ['capability.a@beta', 1],
    ]);
  });

  it('concern different skills in different workspaces, even if the names are similar', () => {
    const ids = (workspace: string, name: string) =>
      skillChanges(undefined, { ...having(name), workspace }).map((change) => movement(change)[0]);
    const names = ['a', 'a@alpha', 'a%40alpha', '@alpha'];
    const all = ['default', 'alpha', 'beta'].flatMap((workspace) => names.flatMap((name) => ids(workspace, name)));
    assert.equal(new Set(all).size, 3 * names.length);
  });

  it('count every agent once per capability, after any sequence of registrations', () => {
    const names = fc.array(fc.constantFrom('a', 'A', 'b', 'ü/x', '..', '\ud800'), { maxLength: 5 });
    const homes = fc.constantFrom('default', 'alpha');
    forAll(fc.array(fc.tuple(names, homes), { minLength: 1, maxLength: 6 }), (history) => {
      const declared = history.map(([list, workspace]) => ({ ...having(...list), workspace }));
      const moves = declared.flatMap((agent, index) => skillChanges(declared[index - 1], agent).map(movement));
      const ids = [...new Set(moves.map(([id]) => id))];
      for (const id of ids) assert.match(id, /^capability\.[^/]+$/);
      const counts = ids.map((id) => moves.reduce((sum, [other, by]) => sum + (other === id ? by : 0), 0));
      const own = new Set(history.at(-1)?.[0].map((name) => name.toLowerCase()));
      const found = counts.filter((count) => count !== 0);
      const expected = [...own].map(() => 1);
      assert.deepEqual(found, expected);
    });
  });
});

/** Returns the id of a skill and the change in its number of agents. */
function movement(change: Change): [id: string, by: number] {
  if (change.kind === 'offerSkill') return [change.skill.id, change.agents];
  assert.ok(change.kind === 'withdrawSkill');
  return [change.id, -1];
}
