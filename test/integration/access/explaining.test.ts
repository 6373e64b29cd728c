import assert from 'node:assert/strict';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { sampleAgent } from '../../support/builders.ts';
import { agentsAt } from '../../support/models/agents.ts';
import { answer, call } from '../coordination/calls.ts';
import { unkeyed } from '../coordination/team.ts';
import { AccessFixture, withName } from './fixture.ts';

describe('the tool access.whoami', () => {
  let fixture: AccessFixture;

  beforeEach(async () => {
    fixture = new AccessFixture();
    await fixture.arrive('ada', 'leader');
    await fixture.arrive('ben');
    await fixture.arrive('root', 'admin');
  });

  const mine = ({ workspaces }: JsonObject, name: string) =>
    Array.isArray(workspaces) ? workspaces.find((one) => Object(one).workspace === name) : undefined;

  const namesIn = (workspaces: unknown) =>
    Array.isArray(workspaces) ? workspaces.map((one) => String(Object(one).workspace)) : [];

  it("returns an agent's owner, and for each workspace the role and where it comes from", async () => {
    const workspace = await fixture.workspaceOf('ada');
    const agent = await fixture.agentOf('ada', 'worker');
    const reported = await fixture.ask(agent, 'whoami');
    assert.deepEqual(reported['owner'], { uid: fixture.id('ada'), name: `ada of ${fixture.id('ada')}` });
    assert.deepEqual(mine(reported, workspace), {
      workspace,
      access: 'private',
      role: 'worker',
      from: 'own',
      owners_role: 'leader',
    });
    assert.deepEqual([reported['deployment_role'], Object(reported['limits']).role], ['worker', 'worker']);
    const ada = await fixture.ask(await fixture.person('ada'), 'whoami');
    const standing = { workspace, access: 'private', role: 'leader', from: 'membership' };
    assert.deepEqual(mine(ada, workspace), standing);
    assert.equal(Object(mine(ada, 'default')).from, 'deployment');
    assert.deepEqual(Object(ada['owner']).email, fixture.email('ada'));
  });

  it('returns the workspace in which calls run by default, and why it is the default', async () => {
    const home = async (principal: Principal) => Object((await fixture.ask(principal, 'whoami'))['home']);
    assert.equal((await home(await fixture.person('ada'))).workspace, 'default');
    const held = await home(await fixture.agentOf('ada', 'leader', { held_to: 'alpha' }));
    assert.deepEqual([held.workspace, /restricted to this workspace/.test(held.why)], ['alpha', true]);
    const settled = await home({ ...(await fixture.agentOf('ada', 'leader')), workspace: 'beta' });
    assert.deepEqual([settled.workspace, /the default workspace of the agent/.test(settled.why)], ['beta', true]);
    const reported = await fixture.ask(await fixture.person('ada'), 'whoami');
    assert.equal(reported['this_call'], fixture.workspace);
  });

  it('can be called by everyone with an account, and explains how to get a role', async () => {
    const reported = await fixture.ask(await fixture.person('ben'), 'whoami');
    assert.deepEqual([reported['workspaces'], reported['administers']], [[], undefined]);
    assert.match(String(reported['advice']), /invite/);
  });

  it('lists every workspace in which the caller has a role, including open workspaces', async () => {
    const open = await fixture.workspaceOf('ada', 'open');
    const hidden = await fixture.workspaceOf('ada');
    const joined = await fixture.workspaceOf('ada');
    await fixture.arrive('eve', 'worker');
    await fixture.letIn(joined, 'eve', 'viewer');
    const reported = await fixture.ask(await fixture.person('eve'), 'whoami');
    const standing = { workspace: open, access: 'open', role: 'worker', from: 'deployment' };
    assert.deepEqual(mine(reported, open), standing);
    assert.deepEqual(mine(reported, joined), {
      workspace: joined,
      access: 'private',
      role: 'viewer',
      from: 'membership',
    });
    assert.deepEqual([mine(reported, hidden), reported['administers']], [undefined, undefined]);
    const ben = await fixture.ask(await fixture.person('ben'), 'whoami');
    assert.deepEqual(ben['workspaces'], [], 'without a role, open workspaces are not listed');
  });

  it('returns the current roles, even if they changed after the token was checked', async () => {
    const workspace = await fixture.workspaceOf('ada');
    const before = await fixture.person('ben');
    await fixture.letIn(workspace, 'ben', 'worker');
    assert.deepEqual(namesIn((await fixture.ask(before, 'whoami'))['workspaces']), [workspace]);
    const after = await fixture.person('ben');
    const { kernel } = fixture.app;
    await kernel.store.commit([{ kind: 'removeMember', workspace, uid: fixture.id('ben') }]);
    assert.deepEqual((await fixture.ask(after, 'whoami'))['workspaces'], []);
  });

  it('truncates each of its two lists of workspaces to 100, and reports this', async () => {
    const names = (access: 'open' | 'private') =>
      Array.from({ length: 101 }, (_, index) => [`${access}-${index}`, access] as const);
    const listed = async (maxRole: 'admin' | 'leader', access: Principal['owner']['access']) => {
      const agent = await fixture.agentOf('root', maxRole);
      const reported = await fixture.ask({ ...agent, owner: { ...agent.owner, access } }, 'whoami');
      const count = (list: unknown) => (Array.isArray(list) ? list.length : undefined);
      return [count(reported['workspaces']), count(reported['administers']), reported['truncated']];
    };
    const [open, closed] = [names('open'), names('private')];
    assert.deepEqual(await listed('admin', Object.fromEntries(open.slice(0, 99))), [100, 0, false]);
    assert.deepEqual(await listed('admin', Object.fromEntries(open.slice(0, 100))), [100, 0, true]);
    assert.deepEqual(await listed('admin', Object.fromEntries(closed.slice(0, 100))), [1, 100, false]);
    assert.deepEqual(await listed('admin', Object.fromEntries(closed)), [1, 100, true]);
    // Workspaces that the caller may not see do not count towards the limit of 100.
    assert.deepEqual(await listed('leader', Object.fromEntries(closed)), [1, undefined, false]);
  });

  it("lists other people's private workspaces only to admins, and shows no role of the admin", async () => {
    const workspace = await fixture.workspaceOf('ada');
    const root = await fixture.ask(await fixture.person('root'), 'whoami');
    assert.equal(mine(root, workspace), undefined);
    const found = Object(root['administers']).filter((one: unknown) => Object(one).workspace === workspace);
    assert.deepEqual(found, [{ workspace, access: 'private' }]);
    await fixture.arrive('eve', 'leader');
    assert.ok(!JSON.stringify(await fixture.ask(await fixture.person('eve'), 'whoami')).includes(workspace));
  });
});

describe('the tool access.explain', () => {
  let fixture: AccessFixture;
  let workspace: string;

  beforeEach(async () => {
    const gitHub = () => ({ apiUrl: 'http://127.0.0.1:9' });
    const hosted = () => agentsAt('http://127.0.0.1:9', { secrets: {} });
    fixture = new AccessFixture({ gitHub, hosted });
    await fixture.arrive('ada', 'leader');
    await fixture.arrive('ben');
    await fixture.arrive('eve', 'worker');
    await fixture.arrive('root', 'admin');
    workspace = await fixture.workspaceOf('ada');
    await fixture.letIn(workspace, 'ben', 'worker');
  });

  const explain = async (name: string, args: JsonObject) =>
    fixture.ask(await fixture.person(name), 'explain', { workspace, ...args });
  const tool = { tool: 'coordination_create_task' };

  it('returns the required role, the role of the caller, and who can change that role', async () => {
    const ada = await explain('ada', tool);
    assert.deepEqual(
      [ada['allowed'], ada['needs'], ada['has']],
      [true, 'leader', { role: 'leader', from: 'membership' }],
    );
    const ben = await explain('ben', tool);
    assert.deepEqual([ben['allowed'], ben['has']], [false, { role: 'worker', from: 'membership' }]);
    const leader = { uid: fixture.id('ada'), name: `ada of ${fixture.id('ada')}` };
    assert.deepEqual(Object(ben['changeable_by']).people, [leader]);
    const own = await fixture.ask(await fixture.agentOf('ada', 'worker'), 'explain', { ...tool, workspace });
    assert.deepEqual([own['allowed'], Object(own['has']).from], [false, 'own']);
    assert.match(Object(own['changeable_by']).who, /owner in person/);
  });

  it("returns equal responses for another owner's workspace and for an unknown workspace", async () => {
    const questions: JsonObject[] = [
      tool,
      { tool: 'access.list_members' },
      { tool: 'access.set_member' },
      { database: 'firestore', path: `workspaces/${workspace}` },
      { database: 'firestore', path: `workspaces/${workspace}/members/${fixture.id('ada')}` },
    ];
    for (const question of questions) {
      const hidden = JSON.stringify(await explain('eve', question)).replaceAll(workspace, 'nowhere');
      const asked = JSON.parse(JSON.stringify(question).replaceAll(workspace, 'nowhere'));
      const missing = JSON.stringify(await explain('eve', { ...asked, workspace: 'nowhere' }));
      assert.equal(hidden, missing);
      assert.match(hidden, /"allowed":false/);
    }
  });

  it('reports that the caller has no role in a workspace that no one has created', async () => {
    const question = { tool: 'access.invite', workspace: 'unopened' };
    const reported = await fixture.ask(await fixture.agentOf('ada', 'leader'), 'explain', question);
    assert.deepEqual([reported['allowed'], reported['has']], [false, undefined]);
    assert.match(Object(reported['changeable_by']).who, /leader of the workspace/);
  });

  it('predicts correctly which access tools each of four people may call', async () => {
    const calls: Readonly<Record<string, JsonObject>> = {
      list_members: { workspace },
      invite: { workspace, email: 'x@example.com', role: 'viewer' },
      set_member: { workspace, uid: fixture.id('ben'), role: 'worker' },
      update_workspace: { workspace, repositories: [] },
      create_workspace: { name: 'default' },
    };
    for (const name of ['ada', 'ben', 'eve', 'root'])
      for (const [called, args] of Object.entries(calls)) {
        const principal = await fixture.person(name);
        const { structuredContent } = await call(fixture, `access_${called}`, args, principal);
        const { code } = Object(structuredContent['error']);
        const { allowed } = await explain(name, { tool: `access.${called}` });
        assert.equal(allowed, code !== -32101, `${called} by ${name}`);
      }
  });

  it('explains restrictions of agents of the caller, and reports other agents as unknown', async () => {
    const id = fixture.id('coder');
    const agent = sampleAgent({ id, owner_uid: fixture.id('ada'), role: 'leader' });
    const credential = {
      api_key: `mk_${id}`,
      agent_id: id,
      secret_hash: 'x',
      created_at: fixture.now,
      expires_at: fixture.now,
      ancestors: [],
      readonly: true as const,
    };
    await fixture.app.kernel.store.commit([
      { kind: 'createAgent', agent },
      { kind: 'issueCredential', credential },
    ]);
    const reported = await explain('ada', { ...tool, agent: id });
    assert.deepEqual(reported['for'], { uid: `agent:${id}`, agent: id });
    assert.match(String(reported['why']), /is read-only/);
    const eve = await fixture.person('eve');
    const hidden = await fixture.refused(eve, 'explain', { ...tool, agent: id });
    const missing = await fixture.refused(eve, 'explain', { ...tool, agent: 'nobody' });
    assert.deepEqual(withName(hidden, id, 'nobody'), missing);
  });

  it('names the approval and the missing settings for which an allowed call waits', async () => {
    const approvals = [{ tool: 'coding.create_task' }, { tool: 'github.createIssue', asks: fixture.id('ben') }];
    await fixture.ask(await fixture.person('ada'), 'update_workspace', { workspace, approvals });
    const waitsOf = async (principal: Principal, name: string) => {
      const { allowed, waits } = await fixture.ask(principal, 'explain', { tool: name, workspace });
      return [allowed, ...(waits as { why: string; remedy: string }[]).map(({ why, remedy }) => `${why} ${remedy}`)];
    };
    const agent = await fixture.agentOf('ada', 'leader');
    const [isAllowed, approval = ''] = await waitsOf(agent, 'coding.create_task');
    assert.equal(isAllowed, true);
    assert.match(String(approval), /^The workspace requires that ada of .* approves .* under Needs you\.$/);
    assert.deepEqual(
      await waitsOf(await fixture.person('ada'), 'coding.create_task'),
      [true],
      'the approver in person',
    );
    assert.match(String((await waitsOf(await fixture.person('ada'), 'github.createIssue'))[2]), /requires that ben of/);
    assert.deepEqual(await waitsOf(agent, 'coordination.create_task'), [true]);
    const [, gitHub] = await waitsOf(agent, 'github.createPR');
    assert.match(String(gitHub), /^GitHub is not set up.*GITHUB_TOKEN/);
    const [, ...models] = await waitsOf(agent, 'orchestration.orchestrate');
    assert.match(models.join(), /claude cannot be used\..*gemini cannot be used/);
    const limit = { kind: 'workspace', id: workspace, tokens: 0 };
    await answer(fixture.at({ workspace }), 'system_setBudget', limit, await fixture.person('ada'));
    const exhausted = await waitsOf(agent, 'orchestration.orchestrate');
    assert.match(exhausted.join(), /budget of .* is exhausted\. .*system_setBudget raises it/);
  });

  it('explains a task and a run, and hides those of other workspaces and people', async () => {
    const place = fixture.at({ workspace });
    const ada = await fixture.person('ada');
    const create = async (args: JsonObject): Promise<string> =>
      Object((await answer(place, 'coordination_create_task', args, ada))['task']).id;
    const first = await create({ description: 'Dig' });
    const second = await create({ description: 'Plant', dependencies: [first] });
    const waits = async (args: JsonObject) =>
      (await explain('ben', args))['waits'] as { why: string; remedy: string }[];
    assert.match(String((await waits({ task: second }))[0]?.why), /^It waits for "Dig"/);
    assert.match(String((await waits({ task: first }))[0]?.why), /^No agent is registered/);
    const eve = await fixture.person('eve');
    const hidden = await fixture.refused(eve, 'explain', { task: first });
    assert.deepEqual(withName(hidden, first, 'nothing'), await fixture.refused(eve, 'explain', { task: 'nothing' }));
    const run = await fixture.refused(eve, 'explain', { run: 'run-nothing' });
    assert.equal(run.code, -32200);
  });

  it('names the permission rule that allows or denies access to a database path', async () => {
    await fixture.app.services.coordination.initialize(workspace, { goal: 'A goal' }, unkeyed);
    const path = { database: 'firestore', path: `workspaces/${workspace}` };
    const ben = await explain('ben', path);
    assert.deepEqual([ben['allowed'], ben['rule']], [true, 'workspaces/{workspace}']);
    const writing = await explain('ada', { ...path, operation: 'write' });
    assert.deepEqual([writing['allowed'], Object(writing['changeable_by']).people], [false, []]);
    const shared = { database: 'realtime', path: `messages/${workspace}/talk`, operation: 'write' };
    assert.equal((await explain('ben', shared))['allowed'], true);
    assert.equal((await explain('root', shared))['allowed'], false, 'the admin is not a member');
  });

  it('rejects a question that is incomplete or ambiguous', async () => {
    const ada = await fixture.person('ada');
    const codes: number[] = [];
    for (const args of [
      {},
      { database: 'firestore' },
      { ...tool, path: 'a/b' },
      { tool: 'nothing' },
      { ...tool, task: 'x' },
    ])
      codes.push((await fixture.refused(ada, 'explain', args)).code);
    assert.deepEqual(codes, [-32301, -32301, -32300, -32200, -32300]);
    const empty = await fixture.refused(ada, 'explain', { database: 'firestore', path: 'a//b' });
    assert.equal(empty.code, -32302);
  });
});
