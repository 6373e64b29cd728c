/** Calls with which agents loosen a limit, and the approval of these calls by people. */
import assert from 'node:assert/strict';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { answer, call } from '../coordination/calls.ts';
import { InboxFixture } from './fixture.ts';

const REQUEST = /request-[a-z0-9]+/;

describe("an agent's call that loosens a limit", () => {
  let fixture: InboxFixture;
  let ada: Principal;
  let leader: Principal;

  beforeEach(async () => {
    fixture = new InboxFixture();
    await fixture.open();
    ada = await fixture.person('ada');
    leader = await fixture.registered('leader');
  });

  const does = (tool: string, args: JsonObject, by = leader) => answer(fixture, tool, args, by);
  const update = (args: JsonObject, by = leader) => does('access_update_workspace', args, by);

  /** Asserts that the call waits for a person. @returns the id of its request */
  async function waits(tool: string, args: JsonObject, by = leader): Promise<string> {
    const { structuredContent, isError } = await call(fixture, tool, args, by);
    const output = JSON.stringify(structuredContent);
    assert.equal(isError, true, output);
    assert.match(output, /waiting for approval/, output);
    return String(REQUEST.exec(output)?.[0]);
  }

  /** Answers the request as the person, and runs the call if approved. @returns its outcome */
  async function decided(request_id: string, given: 'approve' | 'refuse', by = ada): Promise<JsonObject> {
    await fixture.inbox(by, 'answer', { request_id, answer: given });
    await fixture.app.services.approvedCalls.execute(request_id);
    const { outcome } = await fixture.inbox(leader, 'wait', { request_id, wait_ms: 0 });
    return Object(outcome);
  }

  const rules = async () => (await fixture.app.access.ports.workspaces.find(fixture.workspace))?.value.approvals ?? [];
  const limit = async (key: string) => (await fixture.app.graph.ports.budgets.find(key))?.value;

  describe('on approval rules', () => {
    const rule = { tool: 'github.createPR' };
    beforeEach(() => update({ approvals: [rule] }, ada));

    it('waits for the owner of the agent, and runs after the approval', async () => {
      const id = await waits('access_update_workspace', { approvals: [] });
      assert.deepEqual(await rules(), [rule], 'the rules do not change before the approval');
      assert.equal(await waits('access_update_workspace', { approvals: [] }), id, 'the same request');
      await decided(id, 'approve');
      assert.deepEqual(await rules(), []);
      await update({ approvals: [] });
    });

    it('leaves the rules unchanged if the owner refuses it', async () => {
      const id = await waits('access_update_workspace', { approvals: [] });
      await decided(id, 'refuse');
      assert.deepEqual(await rules(), [rule]);
      const again = await call(fixture, 'access_update_workspace', { approvals: [] }, leader);
      assert.match(JSON.stringify(again.structuredContent), /NOT_APPROVED/);
    });

    it('waits for the owner even if it undoes a stricter rule that the agent itself has set', async () => {
      await update({ approvals: [rule, { tool: 'github.createBranch' }] });
      const about = { whose: { workspace: fixture.workspace }, narrowed: { thing: `workspace:${fixture.workspace}` } };
      const { items } = await fixture.app.system.trail.list(about, { limit: 5 });
      const own = items.find(({ by }) => by.agent_id === leader.agent_id);
      const id = await waits('system_undo', { event_id: String(own?.id) });
      assert.equal((await rules()).length, 2);
      await decided(id, 'approve');
      assert.deepEqual(await rules(), [rule]);
    });

    it('runs without approval if it makes the rules stricter', async () => {
      await update({ approvals: [rule, { tool: 'coding.create_task' }] });
      assert.equal((await rules()).length, 2);
    });

    it('waits for the person whom the rule names', async () => {
      const asks = fixture.id('ben');
      await update({ approvals: [{ ...rule, asks }] }, ada);
      const id = await waits('access_update_workspace', { approvals: [rule] });
      const ben = await fixture.person('ben');
      await assert.rejects(fixture.inbox(ada, 'answer', { request_id: id, answer: 'approve' }));
      await decided(id, 'approve', ben);
      assert.deepEqual(await rules(), [rule]);
    });

    it('requires a new approval if a person has added a rule since the request', async () => {
      const id = await waits('access_update_workspace', { approvals: [] });
      await update({ approvals: [rule, { tool: 'github.createBranch' }] }, ada);
      const { error } = await decided(id, 'approve');
      assert.equal(Object(error).reason, 'LOOSENS_A_LIMIT', 'the approval did not cover the new rule');
      assert.equal((await rules()).length, 2);
      const again = await waits('access_update_workspace', { approvals: [] });
      assert.notEqual(again, id);
      await decided(again, 'approve');
      assert.deepEqual(await rules(), []);
    });

    it('cannot be approved by an agent, even if the agent may answer for its person', async () => {
      const other = { ...(await fixture.agentOf('ada', 'leader')), agent_id: 'deputy', uid: 'agent:deputy' };
      await fixture.lets('ada', ['deputy']);
      const request_id = await waits('access_update_workspace', { approvals: [] });
      const refused = await fixture.refusal(other, 'inbox_answer', { request_id, answer: 'approve' });
      assert.equal(refused['reason'], 'NOT_A_PERSON');
      assert.deepEqual(await rules(), [rule]);
    });
  });

  it('never removes a rule that a person adds while the call is processed', async () => {
    const { store } = fixture.app.kernel;
    const commit = store.commit.bind(store);
    const addFirst: typeof commit = async (...of) => {
      store.commit = commit;
      await update({ approvals: [{ tool: 'github.createBranch' }] }, ada);
      return commit(...of);
    };
    store.commit = addFirst;
    await waits('access_update_workspace', { approvals: [{ tool: 'github.createPR' }] });
    assert.notEqual(store.commit, addFirst, 'the person committed first');
    assert.deepEqual(await rules(), [{ tool: 'github.createBranch' }]);
  });

  it("waits for a person of the workspace whose limit it loosens, not of the caller's workspace", async () => {
    const { workspace } = fixture;
    const args = { workspace, email: fixture.email('eve'), role: 'viewer' };
    const { structuredContent } = await call(fixture.at({ workspace: 'default' }), 'access_invite', args, leader);
    const output = JSON.stringify(structuredContent);
    assert.match(output, /waiting for approval/, output);
    const { requests } = await fixture.inbox(ada, 'list');
    const [asked] = requests as { workspace?: string; question: string }[];
    assert.match(String(asked?.question), /invite .* into the workspace/);
  });

  describe('on budgets', () => {
    const key = () => `workspace-${fixture.workspace}`;
    const wanted = (money: number | null) => ({
      kind: 'workspace',
      id: fixture.workspace,
      ...(money === null ? { clear: ['money'] } : { money }),
    });
    const set = (money: number | null, by = leader) => does('system_setBudget', wanted(money), by);

    it("waits for the owner if it raises or removes the owner's budget, in one step or in two", async () => {
      await set(5, ada);
      await waits('system_setBudget', wanted(null));
      await waits('system_setBudget', wanted(6));
      await set(1);
      const id = await waits('system_setBudget', wanted(5));
      assert.equal((await limit(key()))?.cost_usd, 1, 'the agent has lowered the budget, but could not raise it');
      await decided(id, 'approve');
      assert.equal((await limit(key()))?.cost_usd, 5);
      await waits('system_setBudget', wanted(7));
    });

    it('shows the approver the old and new limit; the approval allows no larger increase', async () => {
      await set(5, ada);
      const id = await waits('system_setBudget', wanted(9));
      const { requests } = await fixture.inbox(ada, 'list');
      assert.match(JSON.stringify(requests), /raise the budget of workspace .* from \$5 to \$9/);
      await set(2, ada);
      await decided(id, 'approve');
      assert.equal((await limit(key()))?.cost_usd, 2);
    });

    it('raises and removes a budget that the agent set itself', async () => {
      await set(5);
      await set(9);
      await set(null);
      assert.equal((await limit(key()))?.cost_usd, undefined);
    });

    it('waits for the owner even if it undoes a reduction that the agent itself has made', async () => {
      await set(5, ada);
      await set(1);
      const about = { whose: { workspace: fixture.workspace }, narrowed: { thing: `budget:${key()}` } };
      const { items } = await fixture.app.system.trail.list(about, { limit: 5 });
      const own = items.find(({ by }) => by.agent_id === leader.agent_id);
      const id = await waits('system_undo', { event_id: String(own?.id) });
      await decided(id, 'approve');
      assert.equal((await limit(key()))?.cost_usd, 5);
    });

    it('undoes only changes that need no approval, and lists those that a person must decide', async () => {
      await set(5, ada);
      await set(1);
      await does('todo_add_task', { title: 'Read the plan' });
      const since = new Date(fixture.now.getTime() - 60_000).toISOString();
      const undone = await does('system_undo', { agent_id: String(leader.agent_id), since });
      assert.match(JSON.stringify(undone), /only people may decide/);
      assert.equal((await limit(key()))?.cost_usd, 1);
      assert.doesNotMatch(JSON.stringify(await does('todo_list_tasks', {})), /Read the plan/);
    });
  });

  describe('on members', () => {
    it('waits for the owner if it invites a person or raises a role', async () => {
      const { workspace } = fixture;
      const invited = await waits('access_invite', { workspace, email: fixture.email('eve'), role: 'viewer' });
      assert.deepEqual(await fixture.app.access.ports.people.invitationsTo(workspace), []);
      await decided(invited, 'approve');
      assert.equal((await fixture.app.access.ports.people.invitationsTo(workspace)).length, 1);
      const raised = await waits('access_set_member', { workspace, uid: fixture.id('ben'), role: 'leader' });
      assert.equal(await fixture.roleOf('ben', workspace), 'worker');
      await decided(raised, 'approve');
      assert.equal(await fixture.roleOf('ben', workspace), 'leader');
    });

    it('lowers a role without approval, but raises it again only with approval', async () => {
      const { workspace } = fixture;
      const uid = fixture.id('ben');
      await does('access_set_member', { workspace, uid, role: 'viewer' });
      await waits('access_set_member', { workspace, uid, role: 'worker' });
      assert.equal(await fixture.roleOf('ben', workspace), 'viewer');
    });

    it('is rejected if there is no person who can decide', async () => {
      const owner = `operator-of-${fixture.workspace}`;
      await fixture.app.kernel.store.commit([
        {
          kind: 'setMember',
          member: {
            uid: owner,
            workspace: fixture.workspace,
            role: 'leader',
            added_by: 'a-test',
            added_at: fixture.now,
          },
        },
      ]);
      const agentId = fixture.id('ownerless');
      const roles = await fixture.app.access.ports.roles.of(owner);
      const alone: Principal = {
        uid: `agent:${agentId}`,
        kind: 'agent',
        agent_id: agentId,
        owner_uid: owner,
        maxRole: 'leader',
        owner: roles,
      };
      const { workspace } = fixture;
      const args = { workspace, email: fixture.email('eve'), role: 'viewer' };
      assert.equal((await fixture.refusal(alone, 'access_invite', args))['reason'], 'NOBODY_TO_ASK');
    });
  });
});
