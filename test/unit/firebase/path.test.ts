import assert from 'node:assert/strict';
import fc from 'fast-check';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import {
  DATABASES,
  type DatabaseName,
  parsePath,
} from '../../../functions/src/toolsets/firebase/rules/databaseAccess.ts';
import { forAll } from '../../support/properties.ts';
import { thrownRefusal } from '../../support/refusal.ts';

function refusal(database: DatabaseName, text: string): MusterError {
  const error = thrownRefusal(() => parsePath(database, text));
  assert.equal(error.details.reason, 'INVALID_PATH');
  assert.equal(error.details.field, 'path');
  return error;
}

describe('parsePath', () => {
  it('distinguishes documents from collections by their number of segments', () => {
    assert.equal(parsePath('firestore', 'agents').kind, 'collection');
    assert.equal(parsePath('firestore', 'agents/agent-001').kind, 'document');
    assert.equal(parsePath('firestore', 'messages/conversations/conv-123').kind, 'collection');
    assert.equal(parsePath('realtime', 'tasks/queue').kind, 'node');
  });

  it('rejects a path with ".." and any other text that does not match the pattern', () => {
    for (const text of ['../credentials', 'shared/../credentials', 'a/./b', 'a%2fb', 'a b', 'ä', '', 'a\n'])
      for (const database of DATABASES) refusal(database, text);
  });

  it('rejects a path with empty segments', () => {
    for (const text of ['/', '/agents', 'agents/', 'agents//agent-001'])
      for (const database of DATABASES) assert.match(refusal(database, text).message, /empty segment/);
  });

  it('rejects names that Firestore reserves', () => {
    assert.match(refusal('firestore', 'shared/__secret__').message, /reserves/);
    assert.match(refusal('firestore', '__all__/x').message, /reserves/);
    assert.equal(parsePath('firestore', 'shared/__init').segments[1], '__init');
    assert.equal(parsePath('realtime', 'shared/__secret__').segments[1], '__secret__');
  });

  it('rejects a path that exceeds the length or the depth of the database', () => {
    assert.match(refusal('firestore', `shared/${'a'.repeat(1501)}`).message, /1500/);
    assert.match(refusal('realtime', `shared/${'a'.repeat(769)}`).message, /768/);
    assert.match(refusal('realtime', Array(33).fill('a').join('/')).message, /32 segments/);
    assert.match(refusal('firestore', 'a'.repeat(6145)).message, /6144/);
    assert.equal(parsePath('realtime', `shared/${'a'.repeat(768)}`).segments.length, 2);
  });

  it('quotes only the start of a long path in its error', () => {
    const { value } = refusal('firestore', `shared//${'a'.repeat(1000)}`).details;
    assert.ok(typeof value === 'string' && value.length <= 101);
  });

  it('accepts every path of valid segments, and returns these segments', () => {
    const segment = fc.stringMatching(/^[a-zA-Z0-9-][a-zA-Z0-9_-]{0,20}$/);
    forAll(fc.constantFrom(...DATABASES), fc.array(segment, { minLength: 1, maxLength: 20 }), (database, segments) => {
      assert.deepEqual(parsePath(database, segments.join('/')).segments, segments);
    });
  });

  it('never accepts a character that has a special meaning in a database', () =>
    forAll(fc.constantFrom(...DATABASES), fc.string({ unit: 'binary', maxLength: 60 }), (database, text) => {
      try {
        const { segments } = parsePath(database, text);
        assert.equal(segments.join('/'), text);
        for (const segment of segments) assert.match(segment, /^[a-zA-Z0-9_-]+$/);
      } catch (error) {
        assert.ok(error instanceof MusterError);
      }
    }));
});
