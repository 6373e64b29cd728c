/** Revoking ends everything that came from it, and a key opens at most what it came from opens now. */
import assert from 'node:assert/strict';
import { Revocation } from '../../../functions/src/access/rules/revocation.ts';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { waitingCallsOf } from '../../../functions/src/toolsets/inbox/rules/endings.ts';
import { refusal } from '../../support/refusal.ts';
import { answer, call } from '../coordination/calls.ts';
import { ConnectedTown } from './connectedTown.ts';

const DAYS = 24 * 60 * 60;
const CODE = { tool: 'CLAUDECODE', description: 'Add a test', instructions: 'Write it.' };

describe('what came from a credential', () => {
  let town: ConnectedTown;
  let ada: Principal;

  beforeEach(async () => {
    town = new ConnectedTown();
    await town.arrive('ada', 'leader');
    ada = await town.person('ada');
  });

  const signIn = (bearer: string): Promise<Principal> => town.signIn(bearer);
  const isOut = async (bearer: string): Promise<void> => {
    assert.equal((await refusal(() => signIn(bearer))).code, 'UNAUTHORIZED');
  };
  const revoke = (agent_id: string | undefined, as = ada) =>
    town.ask(as, 'revoke_connection', { agent_id: agent_id ?? assert.fail('it is no agent') });

  it('a descendant of a credential ends with it, at any remove, and is listed; what else its owner has stays', async () => {
    const first = await town.keyOf(ada, 'first', 'worker');
    const second = await town.keyOf(await signIn(first), 'second');
    const third = await town.keyOf(await signIn(second), 'third');
    const other = await town.keyOf(ada, 'other', 'worker');
    const { ended } = await revoke((await signIn(first)).agent_id);
    const names = Object(ended).agents.map(({ name }: { name: string }) => name);
    assert.deepEqual(names.sort(), ['second', 'third']);
    for (const bearer of [first, second, third]) await isOut(bearer);
    await signIn(other);
    // Nothing of it is left to list.
    const { connections } = await town.ask(ada, 'list_connections');
    assert.ok(Array.isArray(connections));
    assert.deepEqual(
      connections.map((one) => Object(one).name),
      ['other'],
    );
  });

  it('a descendant of a credential stays while its agent renews its own key, and ends if another caller registers the agent again', async () => {
    const first = await town.keyOf(ada, 'first', 'worker');
    const second = await town.keyOf(await signIn(first), 'second');
    const renewed = await town.keyOf(await signIn(first), 'first');
    await isOut(first);
    const twice = await town.keyOf(await signIn(renewed), 'first');
    const { lineage } = await signIn(second);
    assert.equal(lineage?.length, 2);
    // Its owner replaces it, maybe because it leaked.
    const replaced = await town.keyOf(ada, 'first');
    for (const bearer of [twice, second]) await isOut(bearer);
    await signIn(replaced);
  });

  it('a descendant of a credential cannot be taken over by a key that was withdrawn a moment ago', async () => {
    const first = await town.keyOf(ada, 'first', 'worker');
    const trusted = await signIn(first);
    await revoke(trusted.agent_id);
    // An instance still trusts the key for 5 seconds.
    await isOut(await town.keyOf(trusted, 'first'));
    await isOut(await town.keyOf(trusted, 'another'));
  });

  describe('as an invitation', () => {
    it('an invitation by a credential ends with it, whoever in the chain has sent it', async () => {
      await town.arrive('eve');
      await town.arrive('fay');
      await town.arrive('gil');
      const workspace = await town.workspaceOf('ada');
      const first = await town.keyOf(await town.person('ada'), 'first', 'leader');
      const second = await town.keyOf(await signIn(first), 'second', 'leader');
      const invite = (as: Principal, name: string) =>
        town.app.services.access.inviting.invite(
          as,
          workspace,
          { address: town.email(name), role: 'worker', url: 'https://muster.example/mcp' },
          () => undefined,
        );
      await invite(await signIn(first), 'eve');
      await invite(await signIn(second), 'fay');
      await invite(await town.person('ada'), 'gil');
      const { ended } = await revoke((await signIn(first)).agent_id);
      const mails = Object(ended).invitations.map(({ email }: { email: string }) => email);
      assert.deepEqual(mails.sort(), [town.email('eve'), town.email('fay')].sort());
      const { services } = town.anotherInstance();
      for (const name of ['eve', 'fay'])
        await assert.rejects(
          services.access.inviting.accept(await town.person(name), workspace, () => undefined),
        );
      await services.access.inviting.accept(await town.person('gil'), workspace, () => undefined);
      assert.equal(await town.roleOf('gil', workspace), 'worker');
    });

    it('an invitation by a credential opens nothing once its sender no longer administers', async () => {
      for (const name of ['eve', 'fay']) await town.arrive(name);
      const workspace = await town.workspaceOf('ada');
      const { inviting } = town.app.services.access;
      for (const [name, toolsets] of [
        ['eve', ['onboarding', 'coordination']],
        ['fay', ['onboarding', 'access']],
      ] as const) {
        const sender = await signIn(await town.keyOf(await town.person('ada'), `of ${name}`, 'leader'));
        const guest = {
          address: town.email(name),
          role: 'worker',
          url: 'https://muster.example/mcp',
        } as const;
        await inviting.invite(sender, workspace, guest, () => undefined);
        await town.keyOf(sender, `of ${name}`, undefined, { toolsets });
      }
      const accept = async (name: string) =>
        town
          .anotherInstance()
          .services.access.inviting.accept(await town.person(name), workspace, () => undefined);
      await assert.rejects(accept('eve'));
      assert.equal(await town.roleOf('eve', workspace), undefined);
      await accept('fay');
      assert.equal(await town.roleOf('fay', workspace), 'worker');
    });

    it('an invitation by a credential opens nothing once its sender has expired, though nobody has revoked it', async () => {
      await town.arrive('eve');
      const workspace = await town.workspaceOf('ada');
      const sender = await town.keyOf(await town.person('ada'), 'sender', 'leader');
      town.pass(85 * DAYS);
      const guest = {
        address: town.email('eve'),
        role: 'worker',
        url: 'https://muster.example/mcp',
      } as const;
      await town.app.services.access.inviting.invite(await signIn(sender), workspace, guest, () => undefined);
      town.pass(6 * DAYS);
      const eve = await town.person('eve');
      await assert.rejects(
        town.anotherInstance().services.access.inviting.accept(eve, workspace, () => undefined),
      );
      assert.equal(await town.roleOf('eve', workspace), undefined);
    });
  });

  describe('as a call that waits for approval', () => {
    beforeEach(async () => {
      const { store } = town.app.kernel;
      await store.commit([
        { kind: 'createWorkspace', name: town.workspace, workspace: { repositories: [] } },
        { kind: 'nameWorkspace', workspace: town.workspace, access: 'open' },
      ]);
      ada = await town.person('ada');
      await answer(town, 'access_update_workspace', { approvals: [{ tool: 'coding.create_task' }] }, ada);
    });

    const waits = async (as: Principal): Promise<string> => {
      const { structuredContent } = await call(town, 'coding_create_task', CODE, as);
      return String(/request-[a-z0-9]+/.exec(JSON.stringify(structuredContent))?.[0]);
    };
    const stateOf = async (id: string) => (await town.app.inbox.ports.requests.find(id))?.value;

    it('a call that waits for approval ends with what its caller came from, with a reason, and is listed', async () => {
      const first = await town.keyOf(ada, 'first', 'worker');
      const second = await town.keyOf(await signIn(first), 'second');
      const other = await town.keyOf(ada, 'other', 'worker');
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
        const said = await call(town, 'inbox_answer', { request_id: id, answer: 'approve' }, ada);
        assert.match(JSON.stringify(said.structuredContent), /was revoked/);
      }
      assert.equal((await stateOf(stays))?.state, 'open');
    });

    it('a call that waits for approval is not made once it was approved, if what its caller came from has ended since', async () => {
      const first = await town.keyOf(ada, 'first', 'worker');
      const second = await town.keyOf(await signIn(first), 'second');
      const ids = [await waits(await signIn(second))];
      town.pass(1);
      for (const id of ids) await answer(town, 'inbox_answer', { request_id: id, answer: 'approve' }, ada);
      // Only the first is withdrawn: nothing has cleared up what came from it.
      const [credential] = await town.app.access.ports.agents.credentials(
        String((await signIn(first)).agent_id),
      );
      await town.app.kernel.store.commit([
        { kind: 'withdrawCredential', apiKey: credential?.api_key ?? assert.fail('it has none') },
      ]);
      for (const id of ids) {
        await town.app.services.approvedCalls.execute(id);
        assert.match(JSON.stringify((await stateOf(id))?.outcome), /RIGHTS_GONE/);
      }
    });

    it('a call that waits for approval is made with no more than what its caller came from opens now', async () => {
      const app = await town.connect('ada', 'App', { role: 'leader' });
      const key = await town.keyOf(await signIn(app.accessToken), 'helper', 'worker');
      const id = await waits(await signIn(key));
      await answer(town, 'inbox_answer', { request_id: id, answer: 'approve' }, ada);
      await town.connect('ada', 'App', { role: 'leader', readonly: true });
      await town.app.services.approvedCalls.execute(id);
      assert.match(JSON.stringify((await stateOf(id))?.outcome), /READ_ONLY/);
    });
  });

  describe('if an app is narrowed', () => {
    let key: string;
    let below: string;

    beforeEach(async () => {
      const { accessToken } = await town.connect('ada', 'App', { role: 'leader' });
      key = await town.keyOf(await signIn(accessToken), 'key', 'leader');
      below = await town.keyOf(await signIn(key), 'below', 'leader');
    });

    it('a key of an app that is narrowed is announced for every sign-in of the app, so that every instance looks it up again', async () => {
      const grants = await town.app.access.ports.grants.ofAgents([
        String((await signIn(key)).lineage?.[0]?.agent_id),
      ]);
      await town.connect('ada', 'App', { role: 'leader', readonly: true });
      const announced = firestore()
        .collection('accessChanges')
        .where('subject', '==', `grant:${grants[0]?.value.id}`);
      assert.equal((await announced.get()).size, 1);
    });

    it('a key of an app that is narrowed ends with the sign-in that it came from, and leaves what another address opened', async () => {
      const resource = 'https://muster.example/mcp/todo';
      const { accessToken } = await town.connect('ada', 'App at todo', { role: 'leader' }, resource);
      const there = await town.keyOf(await signIn(accessToken), 'there');
      const [grant] = (await signIn(key)).lineage ?? [];
      await town.app.kernel.store.commit([
        { kind: 'endGrant', id: String(grant?.subject.slice('grant:'.length)) },
      ]);
      for (const bearer of [key, below]) await isOut(bearer);
      await signIn(there);
    });
  });

  it('a descendant of a credential is ended by a second call, if the first was interrupted', async () => {
    const first = await town.keyOf(ada, 'first', 'worker');
    const as = await signIn(first);
    const keys: string[] = [];
    for (let index = 0; index < 60; index++) keys.push(await town.keyOf(as, `below-${index}`));
    const { kernel, inbox } = town.anotherInstance();
    let commits = 0;
    const dying = {
      ...inbox.ports,
      endings: { waitingCalls: (ids: readonly string[]) => waitingCallsOf(inbox.ports, ids) },
      store: {
        commit: async (...args: Parameters<typeof kernel.store.commit>) => {
          commits += 1;
          if (commits > 1) throw new Error('The instance is gone.');
          await kernel.store.commit(...args);
        },
      },
    };
    await assert.rejects(new Revocation(dying).revoke(String(as.agent_id)), /is gone/);
    await isOut(first);
    const { ended } = await revoke(as.agent_id);
    assert.ok(Object(ended).agents.length > 0);
    for (const bearer of [keys[0], keys.at(-1)]) await isOut(String(bearer));
    const again = await town.refused(ada, 'revoke_connection', { agent_id: String(as.agent_id) });
    assert.equal(again.reason, 'NOTHING_TO_REVOKE');
  });
});
