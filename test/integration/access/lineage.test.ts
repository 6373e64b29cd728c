/** Revoking a credential revokes all credentials below it. No credential has more rights than those above it. */
import assert from 'node:assert/strict';
import { Revocation } from '../../../functions/src/access/rules/revocation.ts';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { waitingCallsOf } from '../../../functions/src/toolsets/inbox/rules/endings.ts';
import { refusal } from '../../support/refusal.ts';
import { answer, call } from '../coordination/calls.ts';
import { ConnectionsFixture } from './connectionsFixture.ts';

const DAYS = 24 * 60 * 60;
const CODE = { tool: 'CLAUDECODE', description: 'Add a test', instructions: 'Write it.' };

describe('credential chains', () => {
  let fixture: ConnectionsFixture;
  let ada: Principal;

  beforeEach(async () => {
    fixture = new ConnectionsFixture();
    await fixture.arrive('ada', 'leader');
    ada = await fixture.person('ada');
  });

  const signIn = (bearer: string): Promise<Principal> => fixture.signIn(bearer);
  const isOut = async (bearer: string): Promise<void> => {
    assert.equal((await refusal(() => signIn(bearer))).code, 'UNAUTHORIZED');
  };
  const revoke = (agent_id: string | undefined, as = ada) =>
    fixture.ask(as, 'revoke_connection', { agent_id: agent_id ?? assert.fail('the principal is not an agent') });

  it('end at a revoked credential: the response lists all credentials below it, which end too', async () => {
    const first = await fixture.keyOf(ada, 'first', 'worker');
    const second = await fixture.keyOf(await signIn(first), 'second');
    const third = await fixture.keyOf(await signIn(second), 'third');
    const other = await fixture.keyOf(ada, 'other', 'worker');
    const { ended } = await revoke((await signIn(first)).agent_id);
    const names = Object(ended).agents.map(({ name }: { name: string }) => name);
    assert.deepEqual(names.sort(), ['second', 'third']);
    for (const bearer of [first, second, third]) await isOut(bearer);
    await signIn(other);
    // The list no longer contains revoked credentials.
    const { connections } = await fixture.ask(ada, 'list_connections');
    assert.ok(Array.isArray(connections));
    const found = connections.map((one) => Object(one).name);
    assert.deepEqual(found, ['other']);
  });

  it('remain valid if an agent renews its credential, and end if its owner registers it again', async () => {
    const first = await fixture.keyOf(ada, 'first', 'worker');
    const second = await fixture.keyOf(await signIn(first), 'second');
    const renewed = await fixture.keyOf(await signIn(first), 'first');
    await isOut(first);
    const twice = await fixture.keyOf(await signIn(renewed), 'first');
    const { lineage } = await signIn(second);
    assert.equal(lineage?.length, 2);
    // The owner replaces the credential, for example because it leaked.
    const replaced = await fixture.keyOf(ada, 'first');
    for (const bearer of [twice, second]) await isOut(bearer);
    await signIn(replaced);
  });

  it('give no access to a credential registered with one that is revoked but still cached', async () => {
    const first = await fixture.keyOf(ada, 'first', 'worker');
    const trusted = await signIn(first);
    await revoke(trusted.agent_id);
    // For 5 seconds after its revocation, an instance can still accept a cached credential.
    await isOut(await fixture.keyOf(trusted, 'first'));
    await isOut(await fixture.keyOf(trusted, 'another'));
  });

  describe('invitations sent by agents', () => {
    it('are revoked if the credential of the sending agent, or one above it, is revoked', async () => {
      await fixture.arrive('eve');
      await fixture.arrive('fay');
      await fixture.arrive('gil');
      const workspace = await fixture.workspaceOf('ada');
      const first = await fixture.keyOf(await fixture.person('ada'), 'first', 'leader');
      const second = await fixture.keyOf(await signIn(first), 'second', 'leader');
      const invite = (as: Principal, name: string) =>
        fixture.app.services.access.inviting.invite(
          as,
          workspace,
          { address: fixture.email(name), role: 'worker', url: 'https://muster.example/mcp' },
          () => undefined,
        );
      await invite(await signIn(first), 'eve');
      await invite(await signIn(second), 'fay');
      await invite(await fixture.person('ada'), 'gil');
      const { ended } = await revoke((await signIn(first)).agent_id);
      const mails = Object(ended).invitations.map(({ email }: { email: string }) => email);
      assert.deepEqual(mails.sort(), [fixture.email('eve'), fixture.email('fay')].sort());
      const { services } = fixture.anotherInstance();
      for (const name of ['eve', 'fay'])
        await assert.rejects(services.access.inviting.accept(await fixture.person(name), workspace, () => undefined));
      await services.access.inviting.accept(await fixture.person('gil'), workspace, () => undefined);
      assert.equal(await fixture.roleOf('gil', workspace), 'worker');
    });

    it('cannot be accepted once the sending agent may no longer use the `access` toolset', async () => {
      for (const name of ['eve', 'fay']) await fixture.arrive(name);
      const workspace = await fixture.workspaceOf('ada');
      const { inviting } = fixture.app.services.access;
      for (const [name, toolsets] of [
        ['eve', ['onboarding', 'coordination']],
        ['fay', ['onboarding', 'access']],
      ] as const) {
        const sender = await signIn(await fixture.keyOf(await fixture.person('ada'), `of ${name}`, 'leader'));
        const guest = { address: fixture.email(name), role: 'worker', url: 'https://muster.example/mcp' } as const;
        await inviting.invite(sender, workspace, guest, () => undefined);
        await fixture.keyOf(sender, `of ${name}`, undefined, { toolsets });
      }
      const accept = async (name: string) =>
        fixture
          .anotherInstance()
          .services.access.inviting.accept(await fixture.person(name), workspace, () => undefined);
      await assert.rejects(accept('eve'));
      assert.equal(await fixture.roleOf('eve', workspace), undefined);
      await accept('fay');
      assert.equal(await fixture.roleOf('fay', workspace), 'worker');
    });

    it('cannot be accepted after the credential of the sending agent has expired', async () => {
      await fixture.arrive('eve');
      const workspace = await fixture.workspaceOf('ada');
      const sender = await fixture.keyOf(await fixture.person('ada'), 'sender', 'leader');
      fixture.pass(85 * DAYS);
      const guest = { address: fixture.email('eve'), role: 'worker', url: 'https://muster.example/mcp' } as const;
      await fixture.app.services.access.inviting.invite(await signIn(sender), workspace, guest, () => undefined);
      fixture.pass(6 * DAYS);
      const eve = await fixture.person('eve');
      await assert.rejects(fixture.anotherInstance().services.access.inviting.accept(eve, workspace, () => undefined));
      assert.equal(await fixture.roleOf('eve', workspace), undefined);
    });
  });

  describe('calls that wait for approval', () => {
    beforeEach(async () => {
      const { store } = fixture.app.kernel;
      await store.commit([
        { kind: 'createWorkspace', name: fixture.workspace, workspace: { repositories: [] } },
        { kind: 'nameWorkspace', workspace: fixture.workspace, access: 'open' },
      ]);
      ada = await fixture.person('ada');
      await answer(fixture, 'access_update_workspace', { approvals: [{ tool: 'coding.create_task' }] }, ada);
    });

    const waits = async (as: Principal): Promise<string> => {
      const { structuredContent } = await call(fixture, 'coding_create_task', CODE, as);
      return String(/request-[a-z0-9]+/.exec(JSON.stringify(structuredContent))?.[0]);
    };
    const stateOf = async (id: string) => (await fixture.app.inbox.ports.requests.find(id))?.value;

    it('are listed and withdrawn if the credential of their caller, or one above it, is revoked', async () => {
      const first = await fixture.keyOf(ada, 'first', 'worker');
      const second = await fixture.keyOf(await signIn(first), 'second');
      const other = await fixture.keyOf(ada, 'other', 'worker');
      const [own, below, stays] = [
        await waits(await signIn(first)),
        await waits(await signIn(second)),
        await waits(await signIn(other)),
      ];
      const { ended } = await revoke((await signIn(first)).agent_id);
      assert.deepEqual(Object(ended).requests.sort(), [own, below].sort());
      for (const id of [own, below]) {
        const request = await stateOf(id);
        assert.deepEqual([request?.state, request?.withdrawn_because], ['withdrawn', 'REVOKED']);
        const output = await call(fixture, 'inbox_answer', { request_id: id, answer: 'approve' }, ada);
        assert.match(JSON.stringify(output.structuredContent), /was revoked/);
      }
      assert.equal((await stateOf(stays))?.state, 'open');
    });

    it('do not run after approval if a credential above their caller has been deleted', async () => {
      const first = await fixture.keyOf(ada, 'first', 'worker');
      const second = await fixture.keyOf(await signIn(first), 'second');
      const ids = [await waits(await signIn(second))];
      fixture.pass(1);
      for (const id of ids) await answer(fixture, 'inbox_answer', { request_id: id, answer: 'approve' }, ada);
      // Deletes only the first credential, and not the credentials below it.
      const [credential] = await fixture.app.access.ports.agents.credentials(String((await signIn(first)).agent_id));
      await fixture.app.kernel.store.commit([
        { kind: 'withdrawCredential', apiKey: credential?.api_key ?? assert.fail('the first agent has no credential') },
      ]);
      for (const id of ids) {
        await fixture.app.services.approvedCalls.execute(id);
        assert.match(JSON.stringify((await stateOf(id))?.outcome), /RIGHTS_GONE/);
      }
    });

    it('run, after approval, with the current rights of all credentials above their caller', async () => {
      const app = await fixture.connect('ada', 'App', { role: 'leader' });
      const key = await fixture.keyOf(await signIn(app.accessToken), 'helper', 'worker');
      const id = await waits(await signIn(key));
      await answer(fixture, 'inbox_answer', { request_id: id, answer: 'approve' }, ada);
      await fixture.connect('ada', 'App', { role: 'leader', readonly: true });
      await fixture.app.services.approvedCalls.execute(id);
      assert.match(JSON.stringify((await stateOf(id))?.outcome), /READ_ONLY/);
    });
  });

  describe('sign-ins of a connected app', () => {
    let key: string;
    let below: string;

    beforeEach(async () => {
      const { accessToken } = await fixture.connect('ada', 'App', { role: 'leader' });
      key = await fixture.keyOf(await signIn(accessToken), 'key', 'leader');
      below = await fixture.keyOf(await signIn(key), 'below', 'leader');
    });

    it('record an access change when they are restricted, so that instances check chains again', async () => {
      const grants = await fixture.app.access.ports.grants.ofAgents([
        String((await signIn(key)).lineage?.[0]?.agent_id),
      ]);
      await fixture.connect('ada', 'App', { role: 'leader', readonly: true });
      const announced = firestore().collection('accessChanges').where('subject', '==', `grant:${grants[0]?.value.id}`);
      assert.equal((await announced.get()).size, 1);
    });

    it('end their own chain when deleted, but not the chain of a sign-in at another address', async () => {
      const resource = 'https://muster.example/mcp/todo';
      const { accessToken } = await fixture.connect('ada', 'App at todo', { role: 'leader' }, resource);
      const there = await fixture.keyOf(await signIn(accessToken), 'there');
      const [grant] = (await signIn(key)).lineage ?? [];
      await fixture.app.kernel.store.commit([{ kind: 'endGrant', id: String(grant?.subject.slice('grant:'.length)) }]);
      for (const bearer of [key, below]) await isOut(bearer);
      await signIn(there);
    });
  });

  it('are revoked completely by a second call if the first revocation was interrupted', async () => {
    const first = await fixture.keyOf(ada, 'first', 'worker');
    const as = await signIn(first);
    const keys: string[] = [];
    for (let index = 0; index < 60; index++) keys.push(await fixture.keyOf(as, `below-${index}`));
    const { kernel, inbox } = fixture.anotherInstance();
    let commits = 0;
    const dying = {
      ...inbox.ports,
      endings: { waitingCalls: (ids: readonly string[]) => waitingCallsOf(inbox.ports, ids) },
      store: {
        commit: async (...args: Parameters<typeof kernel.store.commit>) => {
          commits += 1;
          if (commits > 1) throw new Error('The instance has crashed.');
          await kernel.store.commit(...args);
        },
      },
    };
    await assert.rejects(new Revocation(dying).revoke(String(as.agent_id)), /has crashed/);
    await isOut(first);
    const { ended } = await revoke(as.agent_id);
    assert.ok(Object(ended).agents.length > 0);
    for (const bearer of [keys[0], keys.at(-1)]) await isOut(String(bearer));
    const again = await fixture.refused(ada, 'revoke_connection', { agent_id: String(as.agent_id) });
    assert.equal(again.reason, 'NOTHING_TO_REVOKE');
  });
});
