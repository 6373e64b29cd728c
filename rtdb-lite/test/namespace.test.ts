import assert from 'node:assert/strict';
import { anonymous } from '../src/caller.ts';
import { Namespace } from '../src/namespace.ts';
import { Ruleset } from '../src/rules/ruleset.ts';
import { Triggers } from '../src/triggers.ts';

describe('a listener of a namespace', () => {
  it('is removed as soon as a write changes the data that allows it to read', () => {
    const namespace = new Namespace('demo', new Triggers(null));
    namespace.rules = new Ruleset(
      JSON.stringify({ rules: { '.write': true, list: { '.read': "root.child('open').val() === true" } } }),
    );
    const seen: string[] = [];
    const write = (key: string, value: boolean) => namespace.write([{ path: [key], value }], anonymous);
    write('open', true);
    namespace.listeners.add({
      path: ['list'],
      query: null,
      caller: () => anonymous,
      changed: () => void seen.push('changed'),
      revoked: () => void seen.push('revoked'),
    });
    write('list', true);
    write('other', true);
    write('open', false);
    write('list', false);
    assert.deepEqual(seen, ['changed', 'revoked']);
  });
});
