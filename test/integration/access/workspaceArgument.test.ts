/** The argument `workspace` of every tool. Source: docs/decisions/0054-workspace-argument.md. */
import assert from 'node:assert/strict';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { answer, call } from '../coordination/calls.ts';
import { AccessFixture } from './fixture.ts';

describe('the argument workspace', () => {
  let fixture: AccessFixture;
  let [alpha, beta]: string[] = [];

  beforeEach(async () => {
    fixture = new AccessFixture();
    for (const [name, role] of Object.entries({ ada: 'leader', eve: 'worker' } as const))
      await fixture.arrive(name, role);
    [alpha, beta] = [await fixture.workspaceOf('ada'), await fixture.workspaceOf('ada')];
    await fixture.letIn(String(alpha), 'eve', 'worker');
  });

  const create = (args: JsonObject) => ({ description: 'Dig', ...args });
  const tasksIn = async (workspace = '') =>
    (await answer(fixture.at({ workspace }), 'coordination_get_all_tasks', {}, await fixture.person('ada')))['tasks'];

  it('selects the workspace of one call, with its roles, its audit log and its idempotency keys', async () => {
    const ada = await fixture.person('ada');
    for (const workspace of [alpha, beta])
      await answer(fixture, 'coordination_create_task', create({ workspace, idempotency_key: 'one-key' }), ada);
    for (const workspace of [alpha, beta]) {
      assert.equal(Object(await tasksIn(workspace)).length, 1, 'the same key counts once in each workspace');
      const { events } = await answer(fixture, 'system_getAudit', { of: 'workspace', workspace }, ada);
      assert.equal(Object(events)[0].tool, 'coordination.create_task');
    }
  });

  it('gives no access beyond the role and the credential of the caller', async () => {
    const eve = await fixture.person('eve');
    const refused = async (workspace = '', principal = eve) => {
      const args = create({ workspace });
      const { isError, structuredContent } = await call(fixture, 'coordination_create_task', args, principal);
      assert.equal(isError, true);
      return structuredContent['error'] as string;
    };
    assert.match(await refused(alpha), /leader/);
    assert.equal((await refused(beta)).replaceAll(String(beta), 'nowhere'), await refused('nowhere'));
    const held = await fixture.agentOf('ada', 'leader', { held_to: String(alpha) });
    assert.match(await refused(beta, held), /restricted to the workspace/);
    await answer(fixture, 'coordination_create_task', create({ workspace: alpha }), held);
    assert.equal(Object(await tasksIn(beta)).length, 0);
  });

  it('is refused if it is not the name of a workspace, and ignored if it is null', async () => {
    const ada = await fixture.person('ada');
    const hostile = await call(fixture, 'coordination_get_status', { workspace: '../beta' }, ada);
    assert.equal(hostile.isError, true);
    assert.match(JSON.stringify(hostile), /Argument .{1,3}workspace.{1,3}: expected 1 to 64 letters/);
    await answer(fixture, 'coordination_get_status', { workspace: null }, ada);
    await answer(fixture, 'access_whoami', { workspace: alpha }, ada);
  });
});
