import assert from 'node:assert/strict';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { AccessFixture } from './fixture.ts';

const uidsIn = ({ members }: JsonObject) =>
  Array.isArray(members) ? members.map((member) => String(Object(member).uid)) : [];

describe('members of a workspace', () => {
  let fixture: AccessFixture;
  let workspace: string;

  beforeEach(async () => {
    fixture = new AccessFixture();
    await fixture.arrive('ada', 'leader');
    await fixture.arrive('ben', 'worker');
    await fixture.arrive('cyd', 'viewer');
    await fixture.arrive('eve', 'leader');
    await fixture.arrive('root', 'admin');
    workspace = await fixture.workspaceOf('ada');
    await fixture.letIn(workspace, 'ben', 'worker');
  });

  it('can be listed in pages, with names, by other members and by admins', async () => {
    const ben = await fixture.person('ben');
    const first = await fixture.ask(ben, 'list_members', { workspace, limit: 1 });
    const rest = await fixture.ask(ben, 'list_members', { workspace, cursor: String(first['next_cursor']) });
    assert.deepEqual([...uidsIn(first), ...uidsIn(rest)].sort(), [fixture.id('ada'), fixture.id('ben')].sort());
    assert.deepEqual([first['truncated'], rest['truncated']], [true, false]);
    const whole = await fixture.ask(await fixture.person('root'), 'list_members', { workspace });
    assert.deepEqual(whole['members'], [...Object(first).members, ...Object(rest).members]);
    assert.deepEqual(Object(whole).members[0], {
      uid: fixture.id('ada'),
      role: 'leader',
      name: `ada of ${fixture.id('ada')}`,
      email: fixture.email('ada'),
      added_by: 'a-test',
      added_at: fixture.now.toISOString(),
    });
    assert.equal(first['invitations'], undefined, 'only leaders see invitations');
    assert.deepEqual(whole['invitations'], []);
  });

  it('get their roles only from leaders of the workspace or from admins', async () => {
    const set = (role: string) => ({ workspace, uid: fixture.id('ben'), role });
    const raised = await fixture.ask(await fixture.person('ada'), 'set_member', set('leader'));
    assert.deepEqual(raised, { ...set('leader'), was: 'worker', changed: true });
    const same = await fixture.ask(await fixture.agentOf('ada', 'leader'), 'set_member', set('leader'));
    assert.equal(same['changed'], false);
    await fixture.ask(await fixture.person('root'), 'set_member', set('viewer'));
    assert.equal(await fixture.roleOf('ben', workspace), 'viewer');
    assert.equal((await fixture.person('ben')).owner.workspaces[workspace], 'viewer', "in the person's document");
    for (const caller of [await fixture.person('ben'), await fixture.agentOf('ada', 'worker')])
      assert.equal((await fixture.refused(caller, 'set_member', set('leader'))).reason, 'ROLE_TOO_WEAK');
    const above = await fixture.refused(await fixture.person('ada'), 'set_member', set('admin'));
    assert.equal(above.code, -32300);
  });

  it('can be added by uid by leaders, and by email address only by admins', async () => {
    const ada = await fixture.person('ada');
    await fixture.ask(ada, 'set_member', { workspace, uid: fixture.id('cyd'), role: 'worker' });
    assert.equal(await fixture.roleOf('cyd', workspace), 'worker');
    const role = { workspace, role: 'worker' };
    await fixture.ask(ada, 'set_member', { ...role, email: fixture.email('cyd') });
    const known = await fixture.refused(ada, 'set_member', { ...role, email: fixture.email('eve') });
    const unknown = await fixture.refused(ada, 'set_member', { ...role, email: 'nobody@example.com' });
    assert.deepEqual(known, unknown, 'the error does not reveal accounts');
    const stranger = await fixture.arrive('stranger');
    const both = [
      await fixture.refused(ada, 'set_member', { ...role, uid: stranger }),
      await fixture.refused(ada, 'set_member', { ...role, uid: 'nobody' }),
    ];
    assert.deepEqual(both[0], both[1]);
    await fixture.ask(await fixture.person('root'), 'set_member', { ...role, email: fixture.email('eve') });
    assert.equal(await fixture.roleOf('eve', workspace), 'worker');
    await fixture.refused(await fixture.person('root'), 'set_member', { ...role, uid: 'nobody' });
    assert.match((await fixture.refused(ada, 'set_member', role)).message, /either uid or email/);
  });

  it('include at least one leader in a private workspace, unless an admin removes the leader', async () => {
    const ada = await fixture.person('ada');
    const lower = { workspace, uid: fixture.id('ada'), role: 'worker' };
    assert.equal((await fixture.refused(ada, 'set_member', lower)).reason, 'LAST_LEADER');
    const leave = { workspace, uid: fixture.id('ada') };
    assert.equal((await fixture.refused(ada, 'remove_member', leave)).reason, 'LAST_LEADER');
    await fixture.letIn(workspace, 'ben', 'leader');
    await fixture.ask(ada, 'set_member', lower);
    const last = await fixture.refused(await fixture.person('ben'), 'remove_member', {
      workspace,
      uid: fixture.id('ben'),
    });
    assert.equal(last.reason, 'LAST_LEADER');
    await fixture.ask(await fixture.person('root'), 'remove_member', { workspace, uid: fixture.id('ben') });
    assert.deepEqual(await fixture.app.access.ports.people.leaders(workspace, 2), []);
  });

  it("include one leader after two leaders have tried to lower each other's roles concurrently", async () => {
    await fixture.letIn(workspace, 'ben', 'leader');
    const callers = [await fixture.person('ada'), await fixture.person('ben')];
    const uids = [fixture.id('ben'), fixture.id('ada')];
    await Promise.allSettled(
      callers.map((caller, number) =>
        fixture
          .anotherInstance()
          .services.access.members.set(
            caller,
            workspace,
            { named: { uid: String(uids[number]) }, role: 'viewer' },
            () => undefined,
          ),
      ),
    );
    assert.equal((await fixture.app.access.ports.people.leaders(workspace, 3)).length, 1);
  });

  it('can be removed by leaders, and can leave on their own', async () => {
    const [ben, remove] = [await fixture.person('ben'), { workspace, uid: fixture.id('ben') }];
    const removed = await fixture.ask(await fixture.person('ada'), 'remove_member', remove);
    assert.deepEqual(removed, { ...remove, was: 'worker' });
    assert.equal(await fixture.roleOf('ben', workspace), undefined);
    assert.equal((await fixture.person('ben')).owner.workspaces[workspace], undefined);
    assert.equal((await fixture.refused(await fixture.person('ada'), 'remove_member', remove)).code, -32200);
    await fixture.letIn(workspace, 'ben', 'worker');
    const other = { workspace, uid: fixture.id('ada') };
    assert.equal((await fixture.refused(ben, 'remove_member', other)).reason, 'ROLE_TOO_WEAK');
    assert.equal(
      (await fixture.refused(await fixture.agentOf('ben', 'worker'), 'remove_member', remove)).reason,
      'ROLE_TOO_WEAK',
    );
    await fixture.ask(ben, 'remove_member', remove);
    assert.equal(await fixture.roleOf('ben', workspace), undefined);
  });

  it('keep the access of their deployment role after removal from an open workspace', async () => {
    const open = await fixture.workspaceOf('ada', 'open');
    await fixture.letIn(open, 'cyd', 'leader');
    const ada = await fixture.person('ada');
    const removed = await fixture.ask(ada, 'remove_member', { workspace: open, uid: fixture.id('cyd') });
    assert.deepEqual([removed['was'], removed['remains']], ['leader', 'viewer']);
    await fixture.ask(ada, 'remove_member', { workspace: open, uid: fixture.id('ada') });
  });
});
