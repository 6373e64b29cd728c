/** A person's tasks and runs in a workspace end when the person leaves it. */
import assert from 'node:assert/strict';
import { NO_ROUTING } from '../../../functions/src/access/rules/workspace.ts';
import type { Composition } from '../../../functions/src/composition/compose.ts';
import { accessToDocument, personToDocument } from '../../../functions/src/identity/rules/people.ts';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import { readWorkflow } from '../../../functions/src/toolsets/orchestration/rules/workflows/validation.ts';
import { answer, call } from '../coordination/calls.ts';
import { unkeyed } from '../coordination/team.ts';
import { Town } from './town.ts';

const BY_HAND = { name: 'by-hand', steps: [{ name: 'one', agent: 'network', prompt: 'Do it' }] };

const ORDER = { tool: 'CLAUDECODE', description: 'Add a test', instructions: 'Write it.' };

/** Stored document of a person without roles. */
const NOBODY = personToDocument({ workspaces: {} });

class Leavers extends Town {
  readonly dispatched: string[] = [];

  constructor() {
    super({ dispatch: { dispatch: async (runId) => void this.dispatched.push(runId) } });
  }

  async order(by: Principal, workspace: string): Promise<string> {
    const made = await answer(this.at({ workspace }), 'coding_create_task', ORDER, by);
    return String(Object(made['result']).taskId);
  }

  async run(by: Principal, workspace: string): Promise<string> {
    const situation = {
      workspace,
      agentStatuses: this.app.services.orchestration.roster.agentStatuses(),
      routing: NO_ROUTING,
      work: {},
    };
    const request = {
      workflow: readWorkflow(BY_HAND, 'workflow'),
      input: 'Please',
      context: {},
      situation,
      budget: { tokens: 1000, cost_usd: 1 },
      parallel: true,
      cache: false,
    };
    const { runId } = await this.app.services.orchestration.runs.start(by, workspace, request, unkeyed);
    await this.deliver(runId);
    return runId;
  }

  deliver(runId: string, app: Composition = this.app) {
    return app.services.runExecution.deliver({ runId });
  }

  async runNow(runId: string) {
    const found = await this.app.orchestration.ports.runs.find(runId);
    assert.ok(found);
    return found.value;
  }

  /** Does what the trigger does after a membership was deleted. */
  left(name: string, workspace: string, app: Composition = this.app): Promise<void> {
    const before = personToDocument({ workspaces: { [workspace]: 'worker' } });
    return app.services.leaving.personWritten(this.id(name), before, NOBODY);
  }
}

describe('leaving a workspace', () => {
  let town: Leavers;
  let workspace: string;
  let ben: Principal;

  beforeEach(async () => {
    town = new Leavers();
    await town.arrive('ada', 'worker');
    await town.arrive('ben', 'worker');
    workspace = await town.workspaceOf('ada');
    await town.letIn(workspace, 'ben', 'worker');
    ben = await town.person('ben');
  });

  const remove = async () =>
    town.ask(await town.person('ada'), 'remove_member', { workspace, uid: town.id('ben') });

  it("cancels the person's coding tasks and runs there, but not others' or in other workspaces", async () => {
    const elsewhere = await town.workspaceOf('ada');
    await town.letIn(elsewhere, 'ben', 'worker');
    ben = await town.person('ben');
    const theirs = await town.order(ben, workspace);
    const others = await town.order(await town.person('ada'), workspace);
    const away = await town.order(ben, elsewhere);
    const runId = await town.run(ben, workspace);
    assert.equal((await town.runNow(runId)).status, 'waiting');

    const removed = await remove();
    assert.deepEqual(removed['ends'], { coding_tasks: 1, runs: 1 });
    await town.left('ben', workspace);

    const ended = await town.task(theirs);
    assert.equal(ended.status, 'cancelled');
    assert.match(String(ended.error), /no longer has the role worker in the workspace/);
    assert.deepEqual((await town.task(others)).status, 'available');
    assert.deepEqual((await town.task(away)).status, 'available');
    const run = await town.runNow(runId);
    assert.equal(run.status, 'cancelled');
    assert.match(run.warnings.join(), /no longer has a worker role/);
    assert.equal((await town.task(`${runId}-one-1`)).status, 'cancelled');
  });

  it('cancels each task once if several instances handle the event repeatedly', async () => {
    const theirs = await town.order(ben, workspace);
    await remove();
    const instances = [town.app, town.anotherInstance(), town.anotherInstance()];
    const ended = await Promise.all(instances.map((app) => app.services.leaving.end(town.id('ben'))));
    const total = ended.reduce((sum, { codingTasks }) => sum + codingTasks, 0);
    assert.equal(total, 1);
    const { completed_at: closedAt } = await town.task(theirs);
    town.pass(60);
    await town.left('ben', workspace);
    assert.deepEqual((await town.task(theirs)).completed_at, closedAt);
  });

  it('keeps the tasks that the person created for the plan', async () => {
    await town.letIn(workspace, 'ben', 'leader');
    ben = await town.person('ben');
    const made = await answer(
      town.at({ workspace }),
      'coordination_create_task',
      { description: 'Plan' },
      ben,
    );
    await remove();
    await town.left('ben', workspace);
    assert.equal((await town.task(String(Object(made['task']).id))).status, 'available');
  });

  it("cancels nothing while the person's role permits work", async () => {
    const theirs = await town.order(ben, workspace);
    await town.letIn(workspace, 'ben', 'leader');
    await town.app.services.leaving.end(town.id('ben'));
    assert.equal((await town.task(theirs)).status, 'available');
    await town.letIn(workspace, 'ben', 'viewer');
    await town.app.services.leaving.end(town.id('ben'));
    assert.equal((await town.task(theirs)).status, 'cancelled', 'tasks of a viewer are cancelled');
  });

  it('takes effect, too, when a workspace becomes private', async () => {
    const open = await town.workspaceOf('ada', 'open');
    const theirs = await town.order(await town.person('ben'), open);
    const adas = await town.order(await town.person('ada'), open);
    const named = (access: 'open' | 'private') =>
      accessToDocument({ access: { [open]: access }, asking: {} });
    await town.app.kernel.store.commit([{ kind: 'nameWorkspace', workspace: open, access: 'private' }]);
    await town.app.services.leaving.workspacesWritten(named('open'), named('private'));
    assert.equal((await town.task(theirs)).status, 'cancelled');
    assert.equal((await town.task(adas)).status, 'available');
  });

  it("withholds the person's tasks from runners before anything has cancelled them", async () => {
    const theirs = await town.order(ben, workspace);
    await remove();
    const runner = await town.agentOf('ada', 'worker');
    const register = { programs: [{ name: 'claude', version: '1.0.0' }], serves: 'workspace' };
    await answer(town.at({ workspace }), 'coding_register_runner', register, runner);
    const claim = await answer(town.at({ workspace }), 'coding_claim_task', {}, runner);
    assert.equal(Object(claim['result']).task, null);
    const ended = await town.task(theirs);
    assert.equal(ended.status, 'cancelled');
    assert.match(String(ended.error), /its owner no longer has the role worker/);
    const adas = await town.order(await town.person('ada'), workspace);
    const next = await answer(town.at({ workspace }), 'coding_claim_task', {}, runner);
    assert.equal(Object(next['result']).task.id, adas, 'tasks of the other members are claimed');
  });

  it('fails a run before its next step if nothing has cancelled it yet', async () => {
    const runId = await town.run(ben, workspace);
    await remove();
    const app = town.anotherInstance();
    const { value: before, version } = (await app.orchestration.ports.runs.find(runId)) ?? assert.fail();
    const due = { ...before, status: 'pending' as const };
    await app.kernel.store.commit([{ kind: 'replaceRun', before, run: due, version }]);
    await town.deliver(runId, app);
    const run = await town.runNow(runId);
    assert.equal(run.status, 'failed');
    assert.equal(run.failure?.reason, 'OWNER_LEFT');
    assert.equal((await town.task(`${runId}-one-1`)).status, 'cancelled');
  });

  it("hides the person's runs there, and no runs in other workspaces", async () => {
    const runId = await town.run(ben, workspace);
    const kept = await town.run(ben, 'default');
    const list = async (by: Principal) => {
      const { structuredContent } = await call(town, 'orchestration_list_runs', {}, by);
      return JSON.stringify(structuredContent);
    };
    assert.match(await list(ben), new RegExp(runId));
    await remove();
    const out = await town.person('ben');
    const after = await list(out);
    assert.ok(!after.includes(runId) && after.includes(kept), after);
    const { runs } = town.app.services.orchestration;
    await assert.rejects(runs.view(out, runId), { code: 'NOT_FOUND' });
    await assert.rejects(runs.watch(out, runId, AbortSignal.abort()), { code: 'NOT_FOUND' });
    await assert.rejects(runs.cancel(out, runId, unkeyed), { code: 'NOT_FOUND' });
    assert.equal((await runs.view(out, kept)).sight, 'all');
    assert.equal((await runs.view(await town.person('ada'), runId)).sight, 'course', 'for leaders');
  });

  it('withdraws questions to and from the person there', async () => {
    const ask = async (by: Principal, to?: string) => {
      const args = { question: 'Which?', kind: 'text', ...(to && { to }) };
      const made = await answer(town.at({ workspace }), 'inbox_ask', args, by);
      return String(made['request_id']);
    };
    const ada = await town.person('ada');
    const ofBen = await ask(ada, town.id('ben'));
    const byBen = await ask(ben, town.id('ada'));
    const ofAda = await ask(ada);
    await remove();
    await town.left('ben', workspace);
    const state = async (id: string) => (await town.app.inbox.ports.requests.find(id))?.value.state;
    assert.deepEqual(
      [await state(ofBen), await state(byBen), await state(ofAda)],
      ['withdrawn', 'withdrawn', 'open'],
    );
  });

  it('keeps a to-do that the person delegated there, without the status of its task', async () => {
    const todo = await answer(town, 'todo_add_task', { title: 'Write it' }, ben);
    const task_id = String(Object(todo['task']).id ?? todo['id']);
    const delegated = await answer(town.at({ workspace }), 'todo_delegate', { task_id }, ben);
    const taskId = String(Object(delegated['delegated']).task_id);
    const shown = async (by: Principal) => {
      const { tasks } = await answer(town, 'todo_list_tasks', {}, by);
      const [only] = Array.isArray(tasks) ? tasks : [];
      assert.equal(Object(only).title, 'Write it');
      return Object(only).delegated;
    };
    assert.equal((await shown(ben)).workspace, workspace);
    await remove();
    await town.left('ben', workspace);
    assert.equal(await shown(await town.person('ben')), undefined);
    assert.equal((await town.task(taskId)).status, 'available', 'the task belongs to the plan now');
  });

  it("cancels the person's task again after another member has retried it", async () => {
    const theirs = await town.order(ben, workspace);
    await remove();
    await town.left('ben', workspace);
    await answer(
      town.at({ workspace }),
      'coordination_retry_task',
      { task_id: theirs },
      await town.person('ada'),
    );
    const runner = await town.agentOf('ada', 'worker');
    const register = { programs: [{ name: 'claude', version: '1.0.0' }], serves: 'workspace' };
    await answer(town.at({ workspace }), 'coding_register_runner', register, runner);
    const claim = await answer(town.at({ workspace }), 'coding_claim_task', {}, runner);
    assert.equal(Object(claim['result']).task, null);
    assert.equal((await town.task(theirs)).status, 'cancelled');
  });
});
