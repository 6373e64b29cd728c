import assert from 'node:assert/strict';
import { acceptedNames, wireName } from '../../../functions/src/mcp/names.ts';
import { fullName } from '../../../functions/src/mcp/tool.ts';

describe('accepted names of a tool', () => {
  for (const [toolset, name, own, prefixed] of [
    ['coordination', 'create_task', 'create_task', 'coordination_create_task'],
    ['firebase', 'read', 'firebase_read', 'firebase_read'],
    ['onboarding', 'registerAgent', 'onboarding_registerAgent', 'onboarding_registerAgent'],
    ['todo', 'todo_search', 'todo_search', 'todo_search'],
  ] as const) {
    it(`(${toolset}.${name}) are ${own} and ${prefixed}`, () => {
      assert.equal(wireName(toolset, name, 'own'), own);
      assert.equal(wireName(toolset, name, 'prefixed'), prefixed);
    });

    it(`(${toolset}.${name}) also include the form with a dot`, () => {
      for (const dialect of ['own', 'prefixed'] as const) {
        assert.ok(acceptedNames(toolset, name, dialect).includes(fullName(toolset, name)));
        assert.ok(acceptedNames(toolset, name, dialect).includes(prefixed));
      }
    });
  }

  it('include the name without its toolset only if the URL selects one toolset', () => {
    assert.ok(acceptedNames('coding', 'create_task', 'own').includes('create_task'));
    assert.ok(!acceptedNames('coding', 'create_task', 'prefixed').includes('create_task'));
  });
});
