import assert from 'node:assert/strict';
import { CredentialAuthenticator } from '../../../functions/src/access/rules/authentication.ts';
import { Invitations } from '../../../functions/src/access/rules/invitations.ts';
import { consoleOrigin } from '../../../functions/src/config.ts';
import { roleIn } from '../../../functions/src/identity/rules/principal.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { unkeyed } from '../coordination/team.ts';
import { AccessFixture, withName } from './fixture.ts';

const DAY = 24 * 60 * 60;

describe('invitations to a workspace', () => {
  let fixture: AccessFixture;
  let workspace: string;

  beforeEach(async () => {
    fixture = new AccessFixture();
    await fixture.arrive('ada', 'leader');
    await fixture.arrive('cyd');
    workspace = await fixture.workspaceOf('ada');
  });

  const invite = async (name: string, role = 'worker', by = 'ada') =>
    fixture.ask(await fixture.person(by), 'invite', { workspace, email: fixture.email(name).toUpperCase(), role });
  /** Accepts the invitations of a person as a sign-in does, at an instance without cached data. */
  const signIn = (name: string, town_ = fixture) =>
    new Invitations(town_.anotherInstance().access.ports).acceptAtSignIn(fixture.id(name), fixture.email(name));
  const mails = async () =>
    (await firestore().collection('mail').where('to', 'array-contains', fixture.email('cyd')).get()).docs;

  it('add the person who signs in with the invited address as a member, and are then deleted', async () => {
    const { invited } = await invite('cyd');
    const expires = new Date(fixture.now.getTime() + 14 * DAY * 1000).toISOString();
    assert.deepEqual(invited, { workspace, email: fixture.email('cyd'), role: 'worker', expires_at: expires });
    assert.equal(await fixture.roleOf('cyd', workspace), undefined);
    await signIn('cyd');
    const member = (await fixture.app.access.ports.people.member(workspace, fixture.id('cyd')))?.value;
    assert.deepEqual([member?.role, member?.added_by], ['worker', fixture.id('ada')]);
    assert.deepEqual(await fixture.app.access.ports.people.invitationsTo(workspace), []);
  });

  it("are accepted at sign-in only if the person's address is verified", async () => {
    for (const name of ['cyd', 'dan']) await invite(name);
    const roles: unknown[] = [];
    for (const [name, email] of Object.entries({ cyd: { email: fixture.email('cyd') }, dan: {} })) {
      const { services, access } = fixture.anotherInstance();
      const verify = async () => ({ uid: fixture.id(name), ...email });
      const principal = await new CredentialAuthenticator({
        ...access.ports,
        idTokens: Object.assign(Object.create(access.ports.idTokens), { verify }),
        liveness: services.liveness,
        invitations: new Invitations(access.ports),
      }).authenticate('an ID token');
      roles.push(roleIn(principal, workspace));
    }
    assert.deepEqual(roles, ['worker', undefined]);
    assert.equal(await fixture.roleOf('dan', workspace), undefined);
  });

  it('get the same response whether or not the invited address has an account', async () => {
    const known = await invite('cyd');
    const unknown = await invite('nobody');
    const text = JSON.stringify(known).replaceAll(fixture.email('cyd'), fixture.email('nobody'));
    assert.equal(text, JSON.stringify(unknown));
  });

  it('can be sent only by leaders, and replace an earlier invitation to the same address', async () => {
    await fixture.arrive('ben');
    await fixture.letIn(workspace, 'ben', 'worker');
    const args = { workspace, email: fixture.email('cyd'), role: 'leader' };
    assert.equal((await fixture.refused(await fixture.person('ben'), 'invite', args)).reason, 'ROLE_TOO_WEAK');
    await invite('cyd', 'leader');
    await invite('cyd', 'viewer');
    const [open, ...others] = await fixture.app.access.ports.people.invitationsTo(workspace);
    assert.deepEqual([open?.role, others.length], ['viewer', 0]);
    const { invitations } = await fixture.ask(await fixture.person('ada'), 'list_members', { workspace });
    assert.equal(Object(invitations)[0].email, fixture.email('cyd'));
  });

  it('cause at most one email per day and address, which contains no text of the sender', async () => {
    await invite('cyd');
    await invite('cyd', 'viewer');
    const [mail, ...more] = await mails();
    assert.equal(more.length, 0);
    const subject = `${fixture.email('ada')} invites you to the workspace ${workspace}`;
    assert.ok(String(mail?.get('message.subject')).endsWith(subject));
    assert.match(String(mail?.get('message.text')), /as worker.*https:\/\/muster\.example\/mcp/s);
    const link = ` ${consoleOrigin()}/?workspace=${workspace}\n`;
    assert.ok(String(mail?.get('message.text')).includes(link));
    fixture.pass(DAY + 1);
    await invite('cyd');
    assert.equal((await mails()).length, 2);
  });

  it('can be withdrawn by leaders while they are pending', async () => {
    await fixture.arrive('ben');
    await fixture.letIn(workspace, 'ben', 'worker');
    const args = { workspace, email: fixture.email('cyd').toUpperCase() };
    const withdraw = async (by: string) => fixture.refused(await fixture.person(by), 'withdraw_invitation', args);
    assert.match((await withdraw('ada')).message, /no pending invitation/);
    await invite('cyd');
    assert.equal((await withdraw('ben')).reason, 'ROLE_TOO_WEAK');
    const { withdrawn } = await fixture.ask(await fixture.person('ada'), 'withdraw_invitation', args);
    assert.equal(Object(withdrawn).email, fixture.email('cyd'));
    await invite('cyd');
    assert.equal((await mails()).length, 1, 'a withdrawal allows no second email on the same day');
    await fixture.ask(await fixture.person('ada'), 'withdraw_invitation', args);
    await signIn('cyd');
    assert.equal(await fixture.roleOf('cyd', workspace), undefined);
    fixture.pass(1);
    await invite('cyd');
    fixture.pass(14 * DAY);
    assert.match((await withdraw('ada')).message, /no pending invitation/);
  });

  it('never lower the role of a member', async () => {
    await fixture.letIn(workspace, 'cyd', 'leader');
    await invite('cyd', 'viewer');
    await signIn('cyd');
    assert.equal(await fixture.roleOf('cyd', workspace), 'leader');
    assert.deepEqual(await fixture.app.access.ports.people.invitationsTo(workspace), []);
  });

  it('expire after 14 days, or when their sender is no longer a leader of the workspace', async () => {
    await invite('cyd');
    fixture.pass(14 * DAY);
    await signIn('cyd');
    assert.equal(await fixture.roleOf('cyd', workspace), undefined);
    await fixture.arrive('ben');
    await fixture.letIn(workspace, 'ben', 'leader');
    await invite('cyd', 'leader', 'ben');
    await fixture.letIn(workspace, 'ben', 'worker');
    await signIn('cyd');
    assert.equal(await fixture.roleOf('cyd', workspace), undefined);
    assert.deepEqual(await fixture.app.access.ports.people.invitationsTo(workspace), []);
  });

  it('are deleted when the invited member is removed from the workspace', async () => {
    await fixture.letIn(workspace, 'cyd', 'worker');
    await invite('cyd', 'worker');
    await fixture.ask(await fixture.person('ada'), 'remove_member', { workspace, uid: fixture.id('cyd') });
    await signIn('cyd');
    assert.equal(await fixture.roleOf('cyd', workspace), undefined);
  });

  it('are looked up at most once a minute at sign-in, and at every whoami or accept_invitation', async () => {
    const invitations = new Invitations(fixture.anotherInstance().access.ports);
    const look = () => invitations.acceptAtSignIn(fixture.id('cyd'), fixture.email('cyd'));
    await look();
    await invite('cyd');
    await look();
    assert.equal(await fixture.roleOf('cyd', workspace), undefined);
    fixture.pass(61);
    await look();
    assert.equal(await fixture.roleOf('cyd', workspace), 'worker');
    await invite('cyd', 'leader');
    const cyd = await fixture.person('cyd');
    const accepted = [{ workspace, role: 'leader' }];
    const answer = await fixture.ask(cyd, 'whoami');
    assert.deepEqual(answer['accepted'], accepted);
    const standing = { workspace, access: 'private', role: 'leader', from: 'membership' };
    assert.deepEqual(answer['workspaces'], [standing]);
    await fixture.app.kernel.store.commit([{ kind: 'removeMember', workspace, uid: cyd.uid }]);
    fixture.pass(1);
    await invite('cyd', 'leader');
    assert.deepEqual(await fixture.ask(cyd, 'accept_invitation'), { accepted });
    const again = await fixture.ask(cyd, 'accept_invitation', { workspace });
    assert.deepEqual(again, { accepted: [], already: { workspace, role: 'leader' } });
  });

  it('are accepted only by people who have verified the invited address', async () => {
    await invite('cyd');
    await fixture.arrive('eve');
    const eve = await fixture.person('eve');
    const hidden = await fixture.refused(eve, 'accept_invitation', { workspace });
    const missing = await fixture.refused(eve, 'accept_invitation', { workspace: 'nowhere' });
    assert.deepEqual(withName(hidden, workspace, 'nowhere'), missing);
    assert.equal((await fixture.refused(eve, 'accept_invitation')).code, -32200);
    const { email: _unverified, ...cyd } = await fixture.person('cyd');
    assert.equal((await fixture.refused(cyd, 'accept_invitation')).reason, 'EMAIL_NOT_VERIFIED');
    const agent = await fixture.agentOf('cyd', 'worker');
    assert.equal((await fixture.refused(agent, 'accept_invitation')).reason, 'NOT_A_PERSON');
    await fixture.ask(await fixture.person('cyd'), 'accept_invitation', { workspace });
    assert.equal(await fixture.roleOf('cyd', workspace), 'worker');
  });

  it('are accepted only once if several instances accept them concurrently', async () => {
    await invite('cyd');
    const email = fixture.email('cyd');
    const taking = Array.from({ length: 4 }, () =>
      new Invitations(fixture.anotherInstance().access.ports).accept(fixture.id('cyd'), email, undefined, unkeyed),
    );
    const taken = (await Promise.all(taking)).filter(({ length }) => length > 0);
    assert.equal(taken.length, 1);
    assert.equal(await fixture.roleOf('cyd', workspace), 'worker');
  });
});
