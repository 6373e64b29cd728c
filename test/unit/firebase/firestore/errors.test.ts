import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { isDecidedByContent, permissions } from '../../../../functions/src/access/rules/permissions.ts';
import type { Principal } from '../../../../functions/src/identity/rules/principal.ts';
import { MusterError } from '../../../../functions/src/kernel/errors.ts';
import { type Attempt, explainedError } from '../../../../functions/src/toolsets/firebase/firestore/errors.ts';
import { parsePath } from '../../../../functions/src/toolsets/firebase/rules/databaseAccess.ts';
import { invalidPath } from '../../../../functions/src/toolsets/firebase/rules/dataErrors.ts';
import { agentOf, personOf } from '../../../support/principals.ts';

const agent = agentOf('a', 'o', 'worker');
const person = personOf('p', 'worker');

function attempt(action: Attempt['action'], path = 'shared/x', orderBy?: string): Attempt {
  const caller = { principal: agent, credential: '' };
  return { caller, path: parsePath('firestore', path), action, orderBy };
}

const failure = (code: number, message = 'secret vendor text'): Error => Object.assign(new Error(message), { code });

function explanation(error: unknown, of: Attempt): MusterError {
  const explained_ = explainedError(error, of);
  assert.ok(explained_ instanceof MusterError, String(explained_));
  assert.doesNotMatch(JSON.stringify([explained_.message, explained_.details]), /secret|google/);
  return explained_;
}

describe('errors of Firestore calls', () => {
  const decided = permissions.filter((row) => row.database === 'firestore' && isDecidedByContent(row));

  it('have the error codes and reasons of the specification', () => {
    const names: [number, Attempt['action'], string][] = [
      [7, 'read', 'PERMISSION_DENIED'],
      [7, 'write', 'PERMISSION_DENIED'],
      [7, 'watch', 'PERMISSION_DENIED'],
      [16, 'read', 'PERMISSION_DENIED'],
      [5, 'write', 'NOT_FOUND'],
      [5, 'read', 'CONNECTION_ERROR'],
      [6, 'write', 'CONFLICT'],
      [9, 'write', 'CONFLICT'],
      [10, 'write', 'CONFLICT'],
      [8, 'read', 'QUOTA_EXCEEDED'],
      [14, 'read', 'CONNECTION_ERROR'],
      [4, 'write', 'CONNECTION_ERROR'],
      [13, 'write', 'CONNECTION_ERROR'],
      [3, 'write', 'INVALID_DATA_TYPE'],
      [3, 'read', 'INVALID_PATH'],
      [9, 'read', 'MISSING_INDEX'],
      [9, 'watch', 'MISSING_INDEX'],
    ];
    for (const [code, action, reason] of names)
      assert.equal(explanation(failure(code), attempt(action)).details.reason, reason, `${code} ${action}`);
    assert.equal(explanation(failure(3), attempt('read', 'shared')).details.field, 'query');
  });

  it("report NOT_FOUND for a forbidden document if the document's fields decide about access", () => {
    const held = { ...agent, held_to: 'alpha' };
    const reasonOf = (path: string, principal: Principal = agent, action: Attempt['action'] = 'read') =>
      explanation(failure(7), { ...attempt(action, path), caller: { principal, credential: '' } }).details.reason;
    assert.ok(decided.length > 10);
    for (const { path, spansWorkspaces } of decided) {
      const place = path.replace(/\{\w+\}/g, 'none');
      assert.equal(reasonOf(place), 'NOT_FOUND', place);
      assert.equal(reasonOf(place, held), spansWorkspaces ? 'PERMISSION_DENIED' : 'NOT_FOUND', place);
      assert.equal(reasonOf(place, agent, 'write'), 'PERMISSION_DENIED', place);
      assert.equal(reasonOf(place.split('/').slice(0, -1).join('/')), 'PERMISSION_DENIED', place);
    }
    for (const place of ['credentials/none', 'people/other', 'audit/none', 'shared/none', 'unknown/none'])
      assert.equal(reasonOf(place), 'PERMISSION_DENIED', place);
  });

  it("report NOT_FOUND for exactly those collections whose read rules use the document's fields", async () => {
    const rules = await readFile(new URL('../../../../firestore.rules', import.meta.url), 'utf8');
    const blocks = rules.split(/^ +match \//m);
    const byContent = blocks
      .filter((block) => /allow (read|get)[^;]*;/.exec(block)?.[0].includes('resource.data'))
      .map((block) => /^\w+/.exec(block)?.[0]);
    const rows = decided.map(({ path }) => path.split('/').at(-2));
    assert.deepEqual(new Set(byContent), new Set(rows));
  });

  it('distinguish a value that is too large from a value of the wrong type', () => {
    for (const text of [
      'The value of property "a" is longer than 1048487 bytes.',
      "Document 'x' cannot be written because its size (1,048,600 bytes) exceeds the maximum allowed size",
      'Request payload is over the maximum entity size',
    ])
      assert.equal(explanation(failure(3, text), attempt('write')).details.reason, 'SIZE_LIMIT_EXCEEDED');
  });

  it('are recognized by their text if a listener ends without an error code', () => {
    const ended = new Error("Error 7: \nfalse for 'get' @ L33");
    assert.equal(explanation(ended, attempt('watch')).details.reason, 'PERMISSION_DENIED');
  });

  it('ask a person to sign in again if the token has expired', () => {
    const caller = { principal: person, credential: '' };
    assert.equal(explanation(failure(16), { ...attempt('read'), caller }).code, 'TOKEN_EXPIRED');
  });

  it('contain the definition of the missing index, which is derived from the query', () => {
    const vendor = 'The query requires an index. Create it here: https://console.firebase.google.com/secret';
    const { suggestion = '' } = explanation(failure(9, vendor), attempt('read', 'shared/x/notes', 'a.b')).details;
    const definition: unknown = JSON.parse(suggestion.slice(suggestion.indexOf('{')));
    assert.deepEqual(definition, {
      collectionGroup: 'notes',
      fieldPath: 'a.b',
      indexes: [{ order: 'ASCENDING', queryScope: 'COLLECTION' }],
    });
    assert.match(suggestion, /firestore\.indexes\.json.*fieldOverrides/);
  });

  it('remain unchanged if they are unknown or were converted before', () => {
    const known = invalidPath('x', 'is wrong');
    assert.equal(explainedError(known, attempt('read')), known);
    const unknown = new TypeError('a bug');
    assert.equal(explainedError(unknown, attempt('read')), unknown);
  });
});
