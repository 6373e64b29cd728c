/** access.explain reports who may read or write a database path. `test/rules` compares it with the rules. */
import assert from 'node:assert/strict';
import { decideAccess, sourcedRole } from '../../../functions/src/access/rules/decision.ts';
import { permissionFor } from '../../../functions/src/access/rules/permissions.ts';
import type { PersonRoles, Principal } from '../../../functions/src/identity/rules/principal.ts';

const OWNER: PersonRoles = {
  role: 'worker',
  workspaces: { alpha: 'leader', beta: 'viewer' },
  access: { alpha: 'private', beta: 'open', gamma: 'private' },
};

const person: Principal = { uid: 'ada', kind: 'person', owner_uid: 'ada', maxRole: 'admin', owner: OWNER };

const agent = (more: Partial<Principal> = {}): Principal => ({
  ...person,
  uid: 'agent:one',
  kind: 'agent',
  agent_id: 'one',
  maxRole: 'worker',
  ...more,
});

const read = (path: string, database: 'firestore' | 'realtime' = 'firestore') =>
  ({ database, path, operation: 'read' }) as const;

describe('decision about direct access to a database path', () => {
  it('follows the rule of the path, or the rule of its collection', () => {
    const rows = [
      ['firestore', 'tasks/t-1', 'tasks/{taskId}', false],
      ['firestore', 'tasks', 'tasks/{taskId}', true],
      ['firestore', 'tasks/t-1/logs', 'tasks/{taskId}/logs/{n}', true],
      ['firestore', 'messages', 'messages/{first}', true],
      ['firestore', 'messages/alpha', 'messages/{first}', false],
      ['firestore', 'messages/conversations/conv-123', 'messages/{first}/{collection}/{document=**}', true],
      ['firestore', 'messages/a/b/c/d/e', 'messages/{first}/{collection}/{document=**}', false],
      ['firestore', 'agents/a/secrets/s', '{path=**}', false],
      ['realtime', 'tasks/queue', 'tasks/queue/{taskId}', true],
      ['realtime', 'tasks/queue/t-1/description', 'tasks/queue/{taskId}', false],
      ['realtime', 'tasks', '{path=**}', false],
      ['realtime', 'messages/alpha/a/b/c', 'messages/{first}', false],
    ] as const;
    for (const [database, path, template, isList] of rows) {
      const found = permissionFor({ database, path });
      assert.deepEqual([found.permission.path, found.isList], [template, isList], `${database}: ${path}`);
    }
  });

  it("reports the required role, the caller's role and the source of that role", () => {
    const { isAllowed, needs, workspace, role, from, reason } = decideAccess(person, {
      ...read('messages/beta/plans/one'),
      operation: 'write',
    });
    assert.deepEqual(
      { isAllowed, needs, workspace, role, from },
      { isAllowed: true, needs: 'worker', workspace: 'beta', role: 'worker', from: 'deployment' },
    );
    assert.match(reason, /role worker in the workspace "beta"; your role there is worker, from your deployment role/);
  });

  it("reports whether the caller's role comes from the deployment or a membership", () => {
    const cases = [
      [person, 'alpha', { role: 'leader', from: 'membership' }],
      [person, 'default', { role: 'worker', from: 'deployment' }],
      [person, 'gamma', { from: 'none' }],
      [person, 'unopened', { from: 'none' }],
      [agent(), 'alpha', { role: 'worker', from: 'own' }],
      [agent({ maxRole: 'leader' }), 'alpha', { role: 'leader', from: 'membership' }],
      [agent({ readonly: true }), 'alpha', { role: 'viewer', from: 'readonly' }],
      [agent({ held_to: 'beta' }), 'alpha', { from: 'held' }],
      [agent({ held_to: 'beta' }), 'beta', { role: 'worker', from: 'deployment' }],
    ] as const;
    for (const [principal, workspace, expected] of cases)
      assert.deepEqual(sourcedRole(principal, workspace), expected, workspace);
  });

  it('is the same for data that does not exist and for data that the caller may not read', () => {
    const questions = [
      [read('tasks/t-1'), { workspace: 'gamma' }],
      [read('agents/a-1'), { workspace: 'gamma', owner: 'eve' }],
      [read('todos/t-1'), { owner: 'eve' }],
      [read('presence/a-1', 'realtime'), { workspace: 'gamma' }],
    ] as const;
    for (const [question, subject] of questions) {
      const theirs = decideAccess(person, question, subject);
      assert.equal(theirs.isAllowed, false);
      assert.deepEqual(theirs, decideAccess(person, question));
      assert.equal(JSON.stringify(theirs).includes('gamma'), false);
    }
  });

  it('lets no role list, replace or read data that is closed to clients', () => {
    const admin: Principal = { ...person, owner: { ...OWNER, role: 'admin' } };
    for (const [question, expected] of [
      [read('credentials/c-1'), /No role can read this path directly\. It is written by: /],
      [read('people'), /cannot be read as a whole/],
      [read('presence', 'realtime'), /cannot be read as a whole/],
      [{ ...read('shared', 'realtime'), operation: 'write' }, /A whole list cannot be written/],
      [read('elsewhere/at-all'), /Nothing is stored there/],
    ] as const) {
      const { isAllowed, reason } = decideAccess(admin, question);
      assert.equal(isAllowed, false);
      assert.match(reason, expected);
    }
  });
});
