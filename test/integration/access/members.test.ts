import assert from 'node:assert/strict';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { Town } from './town.ts';

const uidsIn = ({ members }: JsonObject) =>
  Array.isArray(members) ? members.map((member) => String(Object(member).uid)) : [];

describe('members', () => {
  let town: Town;
  let workspace: string;

  beforeEach(async () => {
    town = new Town();
    await town.arrive('ada', 'leader');
    await town.arrive('ben', 'worker');
    await town.arrive('cyd', 'viewer');
    await town.arrive('eve', 'leader');
    await town.arrive('root', 'admin');
    workspace = await town.workspaceOf('ada');
    await town.letIn(workspace, 'ben', 'worker');
  });

  it('are listed with names in pages, to members and admins', async () => {
    const ben = await town.person('ben');
    const first = await town.ask(ben, 'list_members', { workspace, limit: 1 });
    const rest = await town.ask(ben, 'list_members', { workspace, cursor: String(first['next_cursor']) });
    assert.deepEqual([...uidsIn(first), ...uidsIn(rest)].sort(), [town.id('ada'), town.id('ben')].sort());
    assert.deepEqual([first['truncated'], rest['truncated']], [true, false]);
    const whole = await town.ask(await town.person('root'), 'list_members', { workspace });
    assert.deepEqual(whole['members'], [...Object(first).members, ...Object(rest).members]);
    assert.deepEqual(Object(whole).members[0], {
      uid: town.id('ada'),
      role: 'leader',
      name: `ada of ${town.id('ada')}`,
      email: town.email('ada'),
      added_by: 'a-test',
      added_at: town.now.toISOString(),
    });
    assert.equal(first['invitations'], undefined, 'only leaders see invitations');
    assert.deepEqual(whole['invitations'], []);
  });

  it('get roles from leaders, and from admins who are not members', async () => {
    const set = (role: string) => ({ workspace, uid: town.id('ben'), role });
    const raised = await town.ask(await town.person('ada'), 'set_member', set('leader'));
    assert.deepEqual(raised, { ...set('leader'), was: 'worker', changed: true });
    const same = await town.ask(await town.agentOf('ada', 'leader'), 'set_member', set('leader'));
    assert.equal(same['changed'], false);
    await town.ask(await town.person('root'), 'set_member', set('viewer'));
    assert.equal(await town.roleOf('ben', workspace), 'viewer');
    assert.equal((await town.person('ben')).owner.workspaces[workspace], 'viewer', 'both documents');
    for (const caller of [await town.person('ben'), await town.agentOf('ada', 'worker')])
      assert.equal((await town.refused(caller, 'set_member', set('leader'))).reason, 'ROLE_TOO_WEAK');
    const above = await town.refused(await town.person('ada'), 'set_member', set('admin'));
    assert.equal(above.code, -32300);
  });

  it('are added by leaders if known to the deployment, and by email only by admins', async () => {
    const ada = await town.person('ada');
    await town.ask(ada, 'set_member', { workspace, uid: town.id('cyd'), role: 'worker' });
    assert.equal(await town.roleOf('cyd', workspace), 'worker');
    const role = { workspace, role: 'worker' };
    await town.ask(ada, 'set_member', { ...role, email: town.email('cyd') });
    const known = await town.refused(ada, 'set_member', { ...role, email: town.email('eve') });
    const unknown = await town.refused(ada, 'set_member', { ...role, email: 'nobody@example.com' });
    assert.deepEqual(known, unknown, 'the error does not reveal accounts');
    const stranger = await town.arrive('stranger');
    const both = [
      await town.refused(ada, 'set_member', { ...role, uid: stranger }),
      await town.refused(ada, 'set_member', { ...role, uid: 'nobody' }),
    ];
    assert.deepEqual(both[0], both[1]);
    await town.ask(await town.person('root'), 'set_member', { ...role, email: town.email('eve') });
    assert.equal(await town.roleOf('eve', workspace), 'worker');
    await town.refused(await town.person('root'), 'set_member', { ...role, uid: 'nobody' });
    assert.match((await town.refused(ada, 'set_member', role)).message, /either uid or email/);
  });

  it('include at least one leader in a private workspace, unless an admin removes the last one', async () => {
    const ada = await town.person('ada');
    const lower = { workspace, uid: town.id('ada'), role: 'worker' };
    assert.equal((await town.refused(ada, 'set_member', lower)).reason, 'LAST_LEADER');
    const leave = { workspace, uid: town.id('ada') };
    assert.equal((await town.refused(ada, 'remove_member', leave)).reason, 'LAST_LEADER');
    await town.letIn(workspace, 'ben', 'leader');
    await town.ask(ada, 'set_member', lower);
    const last = await town.refused(await town.person('ben'), 'remove_member', {
      workspace,
      uid: town.id('ben'),
    });
    assert.equal(last.reason, 'LAST_LEADER');
    await town.ask(await town.person('root'), 'remove_member', { workspace, uid: town.id('ben') });
    assert.deepEqual(await town.app.access.ports.people.leaders(workspace, 2), []);
  });

  it('include one leader after two leaders have lowered each other concurrently', async () => {
    await town.letIn(workspace, 'ben', 'leader');
    const callers = [await town.person('ada'), await town.person('ben')];
    const uids = [town.id('ben'), town.id('ada')];
    await Promise.allSettled(
      callers.map((caller, number) =>
        town
          .anotherInstance()
          .services.access.members.set(
            caller,
            workspace,
            { named: { uid: String(uids[number]) }, role: 'viewer' },
            () => undefined,
          ),
      ),
    );
    assert.equal((await town.app.access.ports.people.leaders(workspace, 3)).length, 1);
  });

  it('are removed by leaders, or leave on their own', async () => {
    const [ben, remove] = [await town.person('ben'), { workspace, uid: town.id('ben') }];
    const removed = await town.ask(await town.person('ada'), 'remove_member', remove);
    assert.deepEqual(removed, { ...remove, was: 'worker' });
    assert.equal(await town.roleOf('ben', workspace), undefined);
    assert.equal((await town.person('ben')).owner.workspaces[workspace], undefined);
    assert.equal((await town.refused(await town.person('ada'), 'remove_member', remove)).code, -32200);
    await town.letIn(workspace, 'ben', 'worker');
    const other = { workspace, uid: town.id('ada') };
    assert.equal((await town.refused(ben, 'remove_member', other)).reason, 'ROLE_TOO_WEAK');
    assert.equal(
      (await town.refused(await town.agentOf('ben', 'worker'), 'remove_member', remove)).reason,
      'ROLE_TOO_WEAK',
    );
    await town.ask(ben, 'remove_member', remove);
    assert.equal(await town.roleOf('ben', workspace), undefined);
  });

  it('keep their deployment role in an open workspace after their removal', async () => {
    const open = await town.workspaceOf('ada', 'open');
    await town.letIn(open, 'cyd', 'leader');
    const ada = await town.person('ada');
    const removed = await town.ask(ada, 'remove_member', { workspace: open, uid: town.id('cyd') });
    assert.deepEqual([removed['was'], removed['remains']], ['leader', 'viewer']);
    await town.ask(ada, 'remove_member', { workspace: open, uid: town.id('ada') });
  });
});
