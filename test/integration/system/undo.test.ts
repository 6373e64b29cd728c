import assert from 'node:assert/strict';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { MAX_CHECKED } from '../../../functions/src/toolsets/system/rules/undo.ts';
import { AccessFixture } from '../access/fixture.ts';
import { answer as ask, call } from '../coordination/calls.ts';

interface Event {
  readonly event_id: string;
  readonly at: string;
  readonly by: string;
  readonly credential_of?: string;
  readonly on_behalf_of: string;
  readonly tool: string;
  readonly changes: readonly { kind: string; id: string; before?: JsonObject; after?: JsonObject }[];
  readonly undoes?: string;
  readonly undone_by?: string;
}

describe('the audit log of a workspace', () => {
  let fixture: AccessFixture;
  let ada: Principal;
  let hers: Principal;
  let ben: Principal;

  beforeEach(async () => {
    fixture = new AccessFixture();
    await fixture.closeTo({ ada: 'leader', ben: 'worker' });
    [ada, hers, ben] = [
      await fixture.person('ada'),
      await fixture.agentOf('ada', 'worker'),
      await fixture.person('ben'),
    ];
  });

  /** Advances the clock by one second, and calls a tool. */
  const answer = (...asked: Parameters<typeof ask>): Promise<JsonObject> => {
    fixture.pass(1);
    return ask(...asked);
  };

  const events = async (principal: Principal, asked: JsonObject = {}): Promise<readonly Event[]> =>
    Object(await answer(fixture, 'system_getAudit', asked, principal)).events;

  const latest = async (principal: Principal): Promise<Event> => {
    const [event] = await events(principal, { limit: 1 });
    return event ?? assert.fail('no audit entry found');
  };

  const undo = (principal: Principal, args: JsonObject) => answer(fixture, 'system_undo', args, principal);

  const refusal = async (principal: Principal, args: JsonObject) => {
    const { structuredContent, isError } = await call(fixture, 'system_undo', args, principal);
    assert.ok(isError, JSON.stringify(structuredContent));
    return Object(structuredContent).error;
  };

  const add = async (title: string, more: JsonObject = {}, principal = ada): Promise<string> =>
    Object(await answer(fixture, 'todo_add_task', { title, ...more }, principal)).task.id;

  const todos = async (): Promise<readonly JsonObject[]> =>
    Object(await answer(fixture, 'todo_list_tasks', { limit: 50 }, ada)).tasks;

  it('returns a change with old and new values, agent, owner and tool', async () => {
    const id = await add('Milk', { priority: 'LOW' });
    await answer(fixture, 'todo_update_task', { task_id: id, title: 'Oat milk' }, hers);
    const [changed, made] = await events(ada);
    assert.ok(changed && made);
    assert.deepEqual(
      [changed.by, changed.on_behalf_of, changed.tool, changed.changes],
      [
        hers.agent_id,
        ada.uid,
        'todo.update_task',
        [{ kind: 'todo', id, before: { title: 'Milk' }, after: { title: 'Oat milk' } }],
      ],
    );
    assert.deepEqual([made.by, made.tool], [ada.uid, 'todo.add_task']);
    const [{ before, after } = {}] = made.changes;
    assert.deepEqual([before, Object(after).title, Object(after).priority], [undefined, 'Milk', 'LOW']);
  });

  it("names the agent that acted and the credential's agent, and undoes by the agent that acted", async () => {
    const agent_id = 'worker7';
    const terminal = { agent_id, role: 'worker', capabilities: [] };
    await answer(fixture, 'coordination_register_agent', terminal, hers);
    await answer(fixture, 'coordination_create_task', { description: 'Dig' }, ada);
    const { task } = await answer(fixture, 'coordination_claim_task', { agent_id }, hers);
    const { id } = Object(task);
    await answer(fixture, 'coordination_complete_task', { agent_id, task_id: id, output: 'Dug' }, hers);
    const [completed] = await events(ada, { agent_id, limit: 1 });
    assert.deepEqual([completed?.by, completed?.credential_of], [agent_id, hers.agent_id]);
    assert.equal(completed?.tool, 'coordination.complete_task');
    const tools = (await events(ada, { agent_id: String(hers.agent_id) })).map((event) => event.tool);
    assert.ok(!tools.includes('coordination.complete_task'), tools.join());
    const since = new Date(fixture.now.getTime() - 10_000).toISOString();
    const elsewhere = await undo(ada, { agent_id, since, workspace: 'default' });
    assert.deepEqual(elsewhere['events'], [], 'an undo covers only the workspace of the call');
    const { undone } = await undo(ada, { agent_id, since });
    assert.equal(JSON.stringify(undone).includes(id), true);
    assert.equal((await fixture.task(id)).status, 'available');
  });

  it("hides changes of another person's items", async () => {
    const id = await add('Secret');
    const { event_id } = await latest(ada);
    assert.deepEqual(await events(ben), []);
    assert.deepEqual(await events(ben, { thing: `todo:${id}` }), []);
    assert.equal((await refusal(ben, { event_id })).data.suggestion, 'system_getAudit lists events with their ids.');
    assert.equal((await todos()).length, 1);
  });

  it("shows changes of the workspace's agents to leaders only", async () => {
    const his = await fixture.agentOf('ben', 'worker');
    const found = { agent_id: String(his.agent_id), content: 'Look' };
    await answer(fixture, 'coordination_add_discovery', found, his);
    const [event] = await events(ada, { of: 'workspace', limit: 1 });
    const kinds = event?.changes.map(({ kind }) => kind).sort();
    assert.deepEqual([event?.by, kinds], [his.agent_id, ['discovery', 'session']]);
    const { isError } = await call(fixture, 'system_getAudit', { of: 'workspace' }, ben);
    assert.equal(isError, true);
  });

  describe('undo', () => {
    it('restores a to-do that was changed, with its reminder, and deletes one that was created', async () => {
      const id = await add('Milk', { due_date: '2099-01-01T10:00:00Z' });
      const made = await latest(ada);
      await answer(fixture, 'todo_update_task', { task_id: id, clear: ['due_date'], tags: ['shop'] }, ada);
      const changed = await latest(ada);
      const undone = await undo(ada, { event_id: changed.event_id });
      assert.deepEqual([undone['success'], undone['undone']], [true, [{ kind: 'todo', id }]]);
      const [todo] = await todos();
      assert.deepEqual([todo?.['due_date'], todo?.['tags']], ['2099-01-01T10:00:00.000Z', []]);
      const reminders = Object(await answer(fixture, 'todo_list_reminders', {}, ada)).reminders;
      const taskIds = reminders.map(({ task_id }: JsonObject) => task_id);
      assert.deepEqual(taskIds, [id], 'the reminder is restored');
      await undo(ada, { event_id: made.event_id });
      assert.deepEqual(await todos(), []);
      assert.equal((await latest(ada)).tool, 'system.undo');
    });

    it('restores a to-do that was deleted, and can itself be undone', async () => {
      const id = await add('Milk', { tags: ['shop'] });
      await answer(fixture, 'todo_delete_task', { task_id: id }, ada);
      const deleted = await latest(ada);
      await undo(ada, { event_id: deleted.event_id });
      const [todo] = await todos();
      assert.deepEqual([todo?.['id'], todo?.['title'], todo?.['tags']], [id, 'Milk', ['shop']]);
      const taken = await latest(ada);
      assert.equal(taken.undoes, deleted.event_id);
      const again = await refusal(ada, { event_id: deleted.event_id });
      assert.equal(again.data.reason, 'ALREADY_UNDONE');
      await undo(ada, { event_id: taken.event_id });
      assert.deepEqual(await todos(), []);
      await undo(ada, { event_id: (await latest(ada)).event_id });
      await answer(fixture, 'todo_delete_task', { task_id: id }, ada);
      assert.deepEqual(await todos(), [], 'a restored to-do can be deleted again');
    });

    it('reopens a completed to-do and deletes the next occurrence', async () => {
      const recurring = await answer(
        fixture,
        'todo_create_recurring_task',
        { title: 'Water', frequency: 'DAILY', start_date: '2099-01-01T10:00:00Z' },
        ada,
      );
      const [first] = await todos();
      await answer(fixture, 'todo_complete_task', { task_id: String(first?.['id']) }, ada);
      assert.equal((await todos()).length, 2);
      const completed = await latest(ada);
      const undone = await undo(ada, { event_id: completed.event_id });
      assert.deepEqual(undone['refused'], []);
      const left = await todos();
      const rows = left.map(({ id, completed: isDone }) => [id, isDone]);
      assert.deepEqual(rows, [[first?.['id'], false]], JSON.stringify(recurring));
    });

    it('does not revert a field that has changed since, and names the agent and tool of the change', async () => {
      const id = await add('Milk');
      await answer(fixture, 'todo_update_task', { task_id: id, title: 'Oat milk' }, ada);
      const changed = await latest(ada);
      await answer(fixture, 'todo_update_task', { task_id: id, title: 'Soy milk' }, hers);
      const refused = await refusal(ada, { event_id: changed.event_id });
      assert.match(
        refused.message,
        new RegExp(`changed in the meantime: title.*"${hers.agent_id}" with todo.update_task`),
      );
      await answer(fixture, 'todo_update_task', { task_id: id, priority: 'HIGH' }, ada);
      const { event_id } = await latest(ada);
      await answer(fixture, 'todo_update_task', { task_id: id, description: 'Two' }, ada);
      await undo(ada, { event_id });
      const [todo] = await todos();
      assert.deepEqual(
        [todo?.['title'], todo?.['priority'], todo?.['description']],
        ['Soy milk', 'MEDIUM', 'Two'],
        'other fields keep their later values',
      );
    });

    it("reverts an agent's changes since a given time, and no changes of other callers", async () => {
      const before = await add('Before', {}, hers);
      fixture.pass(60);
      const since = fixture.now.toISOString();
      const made = await add('Made', {}, hers);
      await answer(fixture, 'todo_update_task', { task_id: before, title: 'Changed' }, hers);
      await add('Own');
      const undone = await undo(ada, { agent_id: String(hers.agent_id), since });
      assert.deepEqual(
        [undone['success'], undone['refused'], Object(undone).events.length],
        [true, [], 2],
        JSON.stringify(undone),
      );
      assert.deepEqual((await todos()).map(({ title }) => title).sort(), ['Before', 'Own']);
      assert.ok(made);
      const again = await undo(ada, { agent_id: String(hers.agent_id), since });
      assert.deepEqual([again['events'], again['refused']], [[], []]);
    });

    it('skips changes that were undone or cannot be undone, and continues until none is left', async () => {
      const since = new Date(fixture.now.getTime() + 1).toISOString();
      const args = { agent_id: String(hers.agent_id), since };
      for (let number = 0; number < 60; number++) await add(`Task ${number}`, {}, hers);
      for (let number = 0; number < 50; number++) {
        const id = await add(`Changed ${number}`, {}, hers);
        await answer(fixture, 'todo_update_task', { task_id: id, title: `By Ada ${number}` }, ada);
      }
      const rounds = [];
      for (let more = true; more; ) {
        const taken = Object(await undo(ada, args));
        more = taken.more;
        rounds.push(taken.events.length);
        assert.ok(rounds.length < 6, JSON.stringify(rounds));
      }
      assert.deepEqual(rounds, [50, 10]);
      assert.equal((await todos()).length, 50);
    });

    it("skips an agent's change that was partly undone before", async () => {
      const leading = await fixture.agentOf('ada', 'leader');
      await answer(fixture, 'coordination_init_coordination', { goal: 'Move' }, ada);
      await answer(
        fixture,
        'coordination_register_agent',
        { agent_id: String(leading.agent_id), role: 'leader' },
        leading,
      );
      const since = new Date(fixture.now.getTime() + 1).toISOString();
      const agent_id = String(leading.agent_id);
      const tasks = [{ description: 'Pack' }, { description: 'Carry' }];
      await answer(fixture, 'coordination_create_tasks_batch', { tasks }, leading);
      const { event_id } = await latest(leading);
      const { task } = Object(await answer(fixture, 'coordination_claim_task', { agent_id }, leading));
      await answer(fixture, 'coordination_start_task', { agent_id, task_id: task.id }, leading);
      const [undone] = Object(await undo(leading, { event_id })).undone;
      await undo(ada, { agent_id, since });
      const reported = await events(ada, { thing: `task:${undone.id}` });
      const tools = reported.map(({ tool }) => tool);
      assert.deepEqual(tools, ['system.undo', 'coordination.create_tasks_batch']);
    });

    it('returns a cursor after checking the maximum number of changes for one call', async () => {
      const since = new Date(fixture.now.getTime() + 1).toISOString();
      const args = { agent_id: String(hers.agent_id), since };
      const kept = await add('Kept', {}, hers);
      for (let number = 0; number < MAX_CHECKED + 10; number++)
        await answer(fixture, 'todo_update_task', { task_id: kept, title: `Step ${number}` }, hers);
      await answer(fixture, 'todo_update_task', { task_id: kept, title: 'By Ada' }, ada);
      const first = Object(await undo(ada, args));
      assert.deepEqual([first.events, first.more], [[], true]);
      const second = Object(await undo(ada, { ...args, cursor: first.nextCursor }));
      assert.deepEqual([second.more, second.nextCursor], [false, undefined]);
      const looked = [...first.refused, ...second.refused].map(({ event_id }: JsonObject) => event_id);
      assert.equal(new Set(looked).size, looked.length);
      const { data } = await refusal(ada, { ...args, since: '2020-01-01T00:00:00Z', cursor: first.nextCursor });
      assert.equal(data.field, 'cursor');
    });

    it('allows an agent to undo only its own changes', async () => {
      await add('Hers');
      const { event_id } = await latest(ada);
      assert.equal((await refusal(hers, { event_id })).data.reason, 'NOT_YOURS');
      await add('Its', {}, hers);
      const own = await latest(hers);
      assert.equal((await undo(hers, { event_id: own.event_id }))['success'], true);
    });

    it('restores the role of a member who was changed or removed', async () => {
      const workspace = await fixture.workspaceOf('ada');
      await fixture.letIn(workspace, 'ben', 'worker');
      const now = await fixture.person('ada');
      const member = { workspace, uid: ben.uid };
      await fixture.ask(now, 'set_member', { ...member, role: 'viewer' });
      await undo(now, { event_id: (await latest(now)).event_id });
      assert.equal(await fixture.roleOf('ben', workspace), 'worker');
      fixture.pass(1);
      await fixture.ask(now, 'remove_member', member);
      const removed = await latest(now);
      const hidden = await refusal(ben, { event_id: removed.event_id });
      assert.match(hidden.message, /^Event ".*" not found/);
      await undo(now, { event_id: removed.event_id });
      assert.equal(await fixture.roleOf('ben', workspace), 'worker');
    });

    it('restores the settings of a workspace', async () => {
      const workspace = await fixture.workspaceOf('ada');
      const now = await fixture.person('ada');
      const settings = async () => (await fixture.app.access.ports.workspaces.find(workspace))?.value;
      const update = (args: JsonObject) => fixture.ask(now, 'update_workspace', { workspace, ...args });
      await update({ approvals: [{ tool: 'github.createPR' }], routing: { forbid: ['gemini'] } });
      fixture.pass(1);
      await update({ approvals: [], routing: { forbid: [] } });
      const { event_id } = await latest(now);
      await undo(now, { event_id });
      assert.deepEqual((await settings())?.approvals, [{ tool: 'github.createPR' }]);
      assert.deepEqual((await settings())?.forbidden_agents, ['gemini']);
      fixture.pass(1);
      await update({ access: 'open' });
      const opened = await latest(now);
      await undo(now, { event_id: opened.event_id });
      assert.equal((await fixture.app.access.ports.people.workspaces())[workspace], 'private');
      fixture.pass(1);
      await update({ approvals: [{ tool: 'github.createBranch' }] });
      const changed = await latest(now);
      fixture.pass(1);
      await update({ approvals: [] });
      const { data } = await refusal(now, { event_id: changed.event_id });
      assert.equal(data.reason, 'CHANGED_SINCE');
    });

    it('restores a saved workflow after a change or deletion', async () => {
      const workflow = (prompt: string) => ({
        name: 'mine',
        steps: [{ name: 'write', role: 'execute', agent: 'claude', prompt }],
      });
      await answer(fixture, 'orchestration_save_workflow', { workflow: workflow('One {input}') }, ada);
      await answer(fixture, 'orchestration_save_workflow', { workflow: workflow('Two {input}') }, ada);
      await undo(ada, { event_id: (await latest(ada)).event_id });
      await answer(fixture, 'orchestration_delete_workflow', { name: 'mine' }, ada);
      await undo(ada, { event_id: (await latest(ada)).event_id });
      const listed = await answer(fixture, 'orchestration_list_workflows', { filter: 'custom', detailed: true }, ada);
      assert.match(JSON.stringify(listed), /One \{input\}/);
    });

    it('does not undo a registration, because its credential is already in use', async () => {
      const agentInfo = { name: 'helper', type: 'developer', version: '1.0.0' };
      const capabilities = [{ name: 'coding', category: 'work' }];
      await answer(fixture, 'onboarding_registerAgent', { agentInfo, capabilities }, ada);
      const event = (await events(ada)).find(({ tool }) => tool === 'onboarding.registerAgent');
      assert.ok(event);
      const refused = await refusal(ada, { event_id: event.event_id });
      assert.equal(refused.data.reason, 'CANNOT_BE_UNDONE');
    });
  });

  it('completes a repeated undo if the first instance has crashed midway', async () => {
    const since = fixture.now.toISOString();
    for (const title of ['Milk', 'Bread', 'Salt']) await add(title, {}, hers);
    const { store } = fixture.app.kernel;
    const { commit } = store;
    let left = 2;
    const dying: typeof commit = (...args) =>
      left-- > 0 ? commit.apply(store, args) : Promise.reject(new Error('The instance has crashed.'));
    Object.assign(store, { commit: dying });
    const args = { agent_id: String(hers.agent_id), since };
    await call(fixture, 'system_undo', args, ada).catch(() => undefined);
    Object.assign(store, { commit });
    assert.equal((await todos()).length, 1);
    const { events: again, refused } = Object(await undo(ada, args));
    assert.deepEqual([again.length, refused], [1, []]);
    assert.deepEqual(await todos(), []);
  });
});
