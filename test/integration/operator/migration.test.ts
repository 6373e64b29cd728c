/** `npm run migrate`: what version 0.1.0 has stored goes on working, and a second run changes nothing. */
import assert from 'node:assert/strict';
import { personsRoleIn, roleIn } from '../../../functions/src/access/rules/principal.ts';
import { MigrationStage } from './migrationStage.ts';

describe('npm run migrate', () => {
  let stage: MigrationStage;
  let output = '';
  let leads = '';
  let hands = '';

  before(async () => {
    stage = await MigrationStage.open();
    await stage.account('cyd', { role: 'leader', team: 'red' });
    await stage.account('dan', { role: 'worker' }, true);
    await stage.account('vic', {});
    const alpha = { workspace: 'alpha', status: 'active', active_since: new Date() };
    await stage.agent('lead', {
      owner_uid: 'operator',
      role: 'leader',
      ...alpha,
      coordination_role: 'leader',
    });
    await stage.agent('hand', { owner_uid: 'cyd', ...alpha, coordination_role: 'worker' });
    await stage.agent('solo', { owner_uid: 'dan', workspace: null, coordination_role: null });
    await stage.agent('first', { owner_uid: 'eve', workspace: 'default' }, 1);
    await stage.write('agents/broken', { id: 'broken' });
    [leads, hands] = [await stage.credential('lead'), await stage.credential('hand')];
    await stage.session('alpha');
    await stage.session('default');
    await stage.task('in-alpha', 'alpha', 'lead');
    await stage.task('in-default', 'default', 'lead');
    await stage.task('in-beta', 'beta', 'somebody');
    for (const shard of ['0', '1'])
      await stage.write(`workspaces/alpha/members/${shard}`, { total: 7, leaders: 1, active: -2 });
    await stage.write('registry/0', { total: 4, active: 2 });
    await stage.write('shared/beta', { notes: 'of everybody' });
    await stage.put('presence/hand', { last_seen: 1 });

    const first = stage.migrate();
    assert.equal(first.status, 0, first.stderr);
    output = first.stdout;
  });

  after(() => stage.close());

  it('changes nothing when it is run again', async () => {
    const before = await stage.everything();
    const again = stage.migrate();
    assert.equal(again.status, 0, again.stderr);
    assert.equal(await stage.everything(), before);
    assert.match(again.stdout, /Agents: 4 found, 0 changed/);
  });

  it('lets agents claim, where they did, with what they had', async () => {
    const { authenticator, taskClaims } = stage.app().services;
    const [lead, hand] = [await authenticator.authenticate(leads), await authenticator.authenticate(hands)];
    assert.deepEqual([roleIn(lead, 'alpha'), roleIn(hand, 'alpha')], ['leader', 'worker']);
    assert.deepEqual([roleIn(lead, 'beta'), hand.workspace], [undefined, 'alpha']);
    const request = { workspace: 'alpha', agentId: 'hand', leaseSeconds: 60 };
    const outcome = await taskClaims.claim(request, () => undefined);
    assert.equal(outcome.kind === 'claimed' && outcome.task.id, 'in-alpha');
  });

  it('stores what people may do, and gives nobody more than they had', async () => {
    const { people, roles } = stage.app().ports;
    const stored = await Promise.all(['operator', 'cyd', 'dan', 'vic', 'eve'].map((uid) => people.find(uid)));
    assert.deepEqual(
      stored.map((person) => person?.role),
      ['leader', 'leader', undefined, undefined, 'worker'],
    );
    assert.equal(personsRoleIn(await roles.of('cyd'), 'default'), 'leader');
    assert.equal(personsRoleIn(await roles.of('vic'), 'default'), undefined);
    assert.match(output, /operator has no account: leader from now on/);
    assert.match(output, /dan is disabled and gets no role/);
    assert.match(output, /1 accounts have no role/);
    assert.match(output, /agents\/broken cannot be read/);
  });

  it('makes workspaces private, with those who worked there as members', async () => {
    const { people } = stage.app().ports;
    assert.deepEqual(await people.workspaces(), { alpha: 'private', beta: 'private' });
    const { items } = await people.members('alpha', 10);
    assert.deepEqual(
      items.map(({ uid, role, addedBy }) => [uid, role, addedBy]),
      [
        ['cyd', 'leader', 'migration'],
        ['operator', 'leader', 'migration'],
      ],
    );
    assert.deepEqual((await people.members('beta', 10)).items, []);
    assert.match(output, /Nobody leads beta/);
    assert.match(output, /shared\/beta are that workspace's now/);
    assert.equal(personsRoleIn(await stage.app().ports.roles.of('eve'), 'alpha'), undefined);
  });

  it('counts agents by workspace, and finds them by it', async () => {
    const { directory } = stage.app().ports;
    assert.deepEqual(await directory.leaders('alpha', 10), ['lead']);
    const { items } = await directory.live('alpha', 10);
    assert.deepEqual(items.map(({ id }) => id).sort(), ['hand', 'lead']);
    const shards = await stage.database.collection('workspaces/alpha/agentCounts').get();
    const total = shards.docs.reduce((sum, shard) => sum + Number(shard.get('total')), 0);
    assert.equal(total, 2);
    const former = await stage.database.doc('workspaces/alpha/members/0').get();
    const registry = await stage.database.collection('registry').get();
    assert.deepEqual([former.exists, registry.size], [false, 0]);
    const { total: inDefault, registered } = await directory.counts('default');
    assert.deepEqual([inDefault, registered], [0, 2]);
  });

  it('says of what lies below a task whose workspace it is', async () => {
    const read = async (path: string) => (await stage.database.doc(path).get()).get('workspace');
    for (const below of ['logs/00000000', 'logs/check-1', 'results/2-0']) {
      assert.equal(await read(`tasks/in-alpha/${below}`), 'alpha');
      assert.equal(await read(`tasks/in-default/${below}`), 'default');
    }
  });

  it('moves what can be claimed to its workspace’s queue, and tells the rules who may see it', async () => {
    assert.equal(await stage.get('tasks/queue/in-alpha'), null);
    assert.notEqual(await stage.get('workspaces/alpha/queue/in-alpha'), null);
    assert.notEqual(await stage.get('tasks/queue/in-default'), null);
    assert.deepEqual(await stage.get('access/workspaces'), { alpha: 'private', beta: 'private' });
    assert.notEqual(await stage.get('access/people/cyd/workspaces/alpha/leader'), null);
    assert.equal(await stage.get('access/people/vic'), null);
    assert.deepEqual(await stage.get('presence/hand'), { last_seen: 1, workspace: 'alpha' });
  });

  it('carries over, when it is run again, what the version before wrote meanwhile', async () => {
    const late = { owner_uid: 'cyd', workspace: 'alpha', coordination_role: 'leader' };
    await stage.agent('late', late);
    await stage.task('late', 'alpha', 'late');
    await stage.put('workspaces/alpha/queue/claimed', { id: 'claimed', workspace: 'alpha' });
    const again = stage.migrate();
    assert.equal(again.status, 0, again.stderr);
    assert.deepEqual((await stage.app().ports.directory.leaders('alpha', 10)).toSorted(), ['late', 'lead']);
    assert.equal((await stage.database.doc('tasks/late/results/2-0').get()).get('workspace'), 'alpha');
    assert.equal(await stage.get('workspaces/alpha/queue/claimed'), null);
    assert.notEqual(await stage.get('workspaces/alpha/queue/late'), null);
  });
});
