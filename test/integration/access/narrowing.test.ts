import assert from 'node:assert/strict';
import { type Principal, roleIn } from '../../../functions/src/identity/rules/principal.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { answer, call } from '../coordination/calls.ts';
import { AccessFixture } from './fixture.ts';

const REGISTRATION = {
  agentInfo: { name: 'narrow', type: 'developer', version: '1.0.0' },
  capabilities: [{ name: 'coding', category: 'general' }],
};

describe('restricted credentials', () => {
  let fixture: AccessFixture;
  let workspace: string;

  beforeEach(async () => {
    fixture = new AccessFixture();
    await fixture.arrive('ada', 'worker');
    await fixture.arrive('eve', 'leader');
    // Calls use the workspace of the fixture. The fixture makes it private.
    ({ workspace } = fixture);
    await fixture.app.kernel.store.commit([{ kind: 'nameWorkspace', workspace, access: 'private' }]);
    for (const name of ['ada', 'eve']) await fixture.letIn(workspace, name, 'worker');
  });

  /** Registers an agent with these limits, and returns the principal of its credential. */
  async function registered(as: Principal, limits: JsonObject): Promise<Principal> {
    const args = { ...REGISTRATION, ...limits };
    const { apiKey, secret } = Object((await answer(fixture, 'onboarding_registerAgent', args, as))['credentials']);
    return fixture.anotherInstance().services.authenticator.authenticate(`${apiKey}.${secret}`);
  }

  async function refused(as: Principal, limits: JsonObject) {
    const args = { ...REGISTRATION, ...limits };
    const { structuredContent, isError } = await call(fixture, 'onboarding_registerAgent', args, as);
    assert.equal(isError, true);
    return String(Object(structuredContent['error']).message);
  }

  it('receive a welcome that suggests only calls that the restrictions allow', async () => {
    const ada = await fixture.person('ada');
    const greeting = { agentName: 'narrow', role: 'developer' };
    const proposed = async (as: Principal): Promise<readonly string[]> => {
      const { quickStart } = await answer(fixture, 'onboarding_getWelcome', greeting, as);
      assert.ok(Array.isArray(quickStart));
      return quickStart.map(({ action }) => String(action).split(/[ {(]/)[0] ?? '');
    };
    const all = await proposed(await registered(ada, {}));
    assert.ok(all.some((call) => call.startsWith('coordination')) && all.length > 2, all.join());
    const reading = await proposed(await registered(ada, { readonly: true }));
    assert.ok(!reading.some((call) => /register|add_|claim/.test(call)), reading.join());
    const narrow = await proposed(await registered(ada, { toolsets: ['onboarding'], readonly: false }));
    assert.ok(narrow.length > 0 && narrow.every((call) => call.startsWith('onboarding')), narrow.join());
  });

  it('have exactly the rights that were requested', async () => {
    const ada = await fixture.person('ada');
    const limits = { toolsets: ['todo', 'onboarding'], heldTo: workspace, readonly: true };
    const agent = await registered(ada, limits);
    assert.deepEqual([agent.toolsets, agent.held_to, agent.readonly], [limits.toolsets, workspace, true]);
    assert.equal(agent.workspace, workspace, 'calls without a workspace use the permitted one');
    assert.deepEqual([roleIn(agent, workspace), roleIn(agent, 'default')], ['worker', undefined]);
    const wide = await registered(ada, { clear: ['heldTo'], readonly: false });
    assert.deepEqual([wide.held_to, wide.readonly, wide.toolsets], [undefined, undefined, limits.toolsets]);
    assert.equal(roleIn(wide, 'default'), 'worker');
    assert.equal((await registered(ada, { clear: ['toolsets'] })).toolsets, undefined);
  });

  it('keep their restrictions, even if their own agent asks to remove them', async () => {
    const narrow = await registered(await fixture.person('ada'), { toolsets: ['onboarding'], heldTo: workspace });
    const again = await registered(narrow, { clear: ['heldTo'], readonly: false, toolsets: ['onboarding', 'todo'] });
    assert.deepEqual([again.toolsets, again.held_to], [['onboarding'], workspace]);
    assert.match(await refused(narrow, { heldTo: 'default' }), /no role in the workspace|restricted to the workspace/);
  });

  it('cannot be restricted to a workspace in which the caller has no role', async () => {
    const ada = await fixture.person('ada');
    const others = await fixture.workspaceOf('eve');
    const [theirs, none] = [await refused(ada, { heldTo: others }), await refused(ada, { heldTo: 'nowhere' })];
    assert.equal(theirs.replaceAll(others, 'nowhere'), none);
    assert.equal((await registered(await fixture.person('eve'), { heldTo: others })).held_to, others);
  });

  it('are refused if their restrictions contradict each other or name an unknown toolset', async () => {
    const ada = await fixture.person('ada');
    assert.match(await refused(ada, { heldTo: workspace, workspace: 'default' }), /is restricted to the workspace/);
    assert.match(await refused(ada, { toolsets: ['todos'] }), /Unknown toolset "todos"/);
  });
});
