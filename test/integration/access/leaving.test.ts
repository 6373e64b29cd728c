/** When a person leaves a workspace, the coding tasks and runs of the person in that workspace end. */
import assert from 'node:assert/strict';
import { NO_ROUTING } from '../../../functions/src/access/rules/workspace.ts';
import type { Composition } from '../../../functions/src/composition/compose.ts';
import { accessToDocument, personToDocument } from '../../../functions/src/identity/rules/people.ts';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import { readWorkflow } from '../../../functions/src/toolsets/orchestration/rules/workflows/validation.ts';
import { answer, call } from '../coordination/calls.ts';
import { unkeyed } from '../coordination/team.ts';
import { AccessFixture } from './fixture.ts';

const BY_HAND = { name: 'by-hand', steps: [{ name: 'one', agent: 'network', prompt: 'Do it' }] };
const ORDER = { tool: 'CLAUDECODE', description: 'Add a test', instructions: 'Write it.' };

/** Stored document of a person who has no roles. */
const NOBODY = personToDocument({ workspaces: {} });

class Leavers extends AccessFixture {
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

  /** Calls the service that the trigger calls after a membership was deleted. */
  left(name: string, workspace: string, app: Composition = this.app): Promise<void> {
    const before = personToDocument({ workspaces: { [workspace]: 'worker' } });
    return app.services.leaving.personWritten(this.id(name), before, NOBODY);
  }
}

describe('leaving a workspace', () => {
  let fixture: Leavers;
  let workspace: string;
  let ben: Principal;

  beforeEach(async () => {
    fixture = new Leavers();
    await fixture.arrive('ada', 'worker');
    await fixture.arrive('ben', 'worker');
    workspace = await fixture.workspaceOf('ada');
    await fixture.letIn(workspace, 'ben', 'worker');
    ben = await fixture.person('ben');
  });

  const remove = async () =>
    fixture.ask(await fixture.person('ada'), 'remove_member', { workspace, uid: fixture.id('ben') });

  it('cancels exactly the coding tasks and runs that the person has in the workspace', async () => {
    const elsewhere = await fixture.workspaceOf('ada');
    await fixture.letIn(elsewhere, 'ben', 'worker');
    ben = await fixture.person('ben');
    const theirs = await fixture.order(ben, workspace);
    const others = await fixture.order(await fixture.person('ada'), workspace);
    const away = await fixture.order(ben, elsewhere);
    const runId = await fixture.run(ben, workspace);
    assert.equal((await fixture.runNow(runId)).status, 'waiting');

    const removed = await remove();
    assert.deepEqual(removed['ends'], { coding_tasks: 1, runs: 1 });
    await fixture.left('ben', workspace);

    const ended = await fixture.task(theirs);
    assert.equal(ended.status, 'cancelled');
    assert.match(String(ended.error), /no longer has the role worker in the workspace/);
    assert.deepEqual((await fixture.task(others)).status, 'available');
    assert.deepEqual((await fixture.task(away)).status, 'available');
    const run = await fixture.runNow(runId);
    assert.equal(run.status, 'cancelled');
    assert.match(run.warnings.join(), /no longer has a worker role/);
    assert.equal((await fixture.task(`${runId}-one-1`)).status, 'cancelled');
  });

  it('cancels each task once, even if several instances repeatedly process the event', async () => {
    const theirs = await fixture.order(ben, workspace);
    await remove();
    const instances = [fixture.app, fixture.anotherInstance(), fixture.anotherInstance()];
    const ended = await Promise.all(instances.map((app) => app.services.leaving.end(fixture.id('ben'))));
    const total = ended.reduce((sum, { codingTasks }) => sum + codingTasks, 0);
    assert.equal(total, 1);
    const { completed_at: closedAt } = await fixture.task(theirs);
    fixture.pass(60);
    await fixture.left('ben', workspace);
    assert.deepEqual((await fixture.task(theirs)).completed_at, closedAt);
  });

  it('keeps the tasks that the person created in the workspace as a leader', async () => {
    await fixture.letIn(workspace, 'ben', 'leader');
    ben = await fixture.person('ben');
    const made = await answer(fixture.at({ workspace }), 'coordination_create_task', { description: 'Plan' }, ben);
    await remove();
    await fixture.left('ben', workspace);
    assert.equal((await fixture.task(String(Object(made['task']).id))).status, 'available');
  });

  it('cancels nothing as long as the person still has the role worker or leader', async () => {
    const theirs = await fixture.order(ben, workspace);
    await fixture.letIn(workspace, 'ben', 'leader');
    await fixture.app.services.leaving.end(fixture.id('ben'));
    assert.equal((await fixture.task(theirs)).status, 'available');
    await fixture.letIn(workspace, 'ben', 'viewer');
    await fixture.app.services.leaving.end(fixture.id('ben'));
    assert.equal((await fixture.task(theirs)).status, 'cancelled', 'tasks of a viewer are cancelled');
  });

  it('also cancels tasks if an open workspace becomes private without the person as a member', async () => {
    const open = await fixture.workspaceOf('ada', 'open');
    const theirs = await fixture.order(await fixture.person('ben'), open);
    const adas = await fixture.order(await fixture.person('ada'), open);
    const named = (access: 'open' | 'private') => accessToDocument({ access: { [open]: access }, asking: {} });
    await fixture.app.kernel.store.commit([{ kind: 'nameWorkspace', workspace: open, access: 'private' }]);
    await fixture.app.services.leaving.workspacesWritten(named('open'), named('private'));
    assert.equal((await fixture.task(theirs)).status, 'cancelled');
    assert.equal((await fixture.task(adas)).status, 'available');
  });

  it('offers no coding tasks of the person to runners, even before a trigger cancels the tasks', async () => {
    const theirs = await fixture.order(ben, workspace);
    await remove();
    const runner = await fixture.agentOf('ada', 'worker');
    const register = { programs: [{ name: 'claude', version: '1.0.0' }], serves: 'workspace' };
    await answer(fixture.at({ workspace }), 'coding_register_runner', register, runner);
    const claim = await answer(fixture.at({ workspace }), 'coding_claim_task', {}, runner);
    assert.equal(Object(claim['result']).task, null);
    const ended = await fixture.task(theirs);
    assert.equal(ended.status, 'cancelled');
    assert.match(String(ended.error), /the owner no longer has the role worker/);
    const adas = await fixture.order(await fixture.person('ada'), workspace);
    const next = await answer(fixture.at({ workspace }), 'coding_claim_task', {}, runner);
    assert.equal(Object(next['result']).task.id, adas, 'tasks of the other members are claimed');
  });

  it('fails a run of the person before its next step if no trigger has cancelled the run yet', async () => {
    const runId = await fixture.run(ben, workspace);
    await remove();
    const app = fixture.anotherInstance();
    const { value: before, version } = (await app.orchestration.ports.runs.find(runId)) ?? assert.fail();
    const due = { ...before, status: 'pending' as const };
    await app.kernel.store.commit([{ kind: 'replaceRun', before, run: due, version }]);
    await fixture.deliver(runId, app);
    const run = await fixture.runNow(runId);
    assert.equal(run.status, 'failed');
    assert.equal(run.failure?.reason, 'OWNER_LEFT');
    assert.equal((await fixture.task(`${runId}-one-1`)).status, 'cancelled');
  });

  it("hides the person's runs in the workspace from the person, but not runs in other workspaces", async () => {
    const runId = await fixture.run(ben, workspace);
    const kept = await fixture.run(ben, 'default');
    const list = async (by: Principal) => {
      const { structuredContent } = await call(fixture, 'orchestration_list_runs', {}, by);
      return JSON.stringify(structuredContent);
    };
    assert.match(await list(ben), new RegExp(runId));
    await remove();
    const out = await fixture.person('ben');
    const after = await list(out);
    assert.ok(!after.includes(runId) && after.includes(kept), after);
    const { runs } = fixture.app.services.orchestration;
    await assert.rejects(runs.view(out, runId), { code: 'NOT_FOUND' });
    await assert.rejects(runs.watch(out, runId, AbortSignal.abort()), { code: 'NOT_FOUND' });
    await assert.rejects(runs.cancel(out, runId, unkeyed), { code: 'NOT_FOUND' });
    assert.equal((await runs.view(out, kept)).visibility, 'all');
    assert.equal((await runs.view(await fixture.person('ada'), runId)).visibility, 'course', 'leaders see no prompts');
  });

  it('withdraws questions that the person asked or received in the workspace', async () => {
    const ask = async (by: Principal, to?: string) => {
      const args = { question: 'Which?', kind: 'text', ...(to && { to }) };
      const made = await answer(fixture.at({ workspace }), 'inbox_ask', args, by);
      return String(made['request_id']);
    };
    const ada = await fixture.person('ada');
    const ofBen = await ask(ada, fixture.id('ben'));
    const byBen = await ask(ben, fixture.id('ada'));
    const ofAda = await ask(ada);
    await remove();
    await fixture.left('ben', workspace);
    const state = async (id: string) => (await fixture.app.inbox.ports.requests.find(id))?.value.state;
    assert.deepEqual([await state(ofBen), await state(byBen), await state(ofAda)], ['withdrawn', 'withdrawn', 'open']);
  });

  it('keeps a to-do that the person delegated there, but no longer shows the delegated task', async () => {
    const todo = await answer(fixture, 'todo_add_task', { title: 'Write it' }, ben);
    const task_id = String(Object(todo['task']).id ?? todo['id']);
    const delegated = await answer(fixture.at({ workspace }), 'todo_delegate', { task_id }, ben);
    const taskId = String(Object(delegated['delegated']).task_id);
    const shown = async (by: Principal) => {
      const { tasks } = await answer(fixture, 'todo_list_tasks', {}, by);
      const [only] = Array.isArray(tasks) ? tasks : [];
      assert.equal(Object(only).title, 'Write it');
      return Object(only).delegated;
    };
    assert.equal((await shown(ben)).workspace, workspace);
    await remove();
    await fixture.left('ben', workspace);
    assert.equal(await shown(await fixture.person('ben')), undefined);
    assert.equal((await fixture.task(taskId)).status, 'available', 'the task stays in the plan of the workspace');
  });

  it("cancels the person's coding task again if it is retried and a runner claims it", async () => {
    const theirs = await fixture.order(ben, workspace);
    await remove();
    await fixture.left('ben', workspace);
    await answer(
      fixture.at({ workspace }),
      'coordination_retry_task',
      { task_id: theirs },
      await fixture.person('ada'),
    );
    const runner = await fixture.agentOf('ada', 'worker');
    const register = { programs: [{ name: 'claude', version: '1.0.0' }], serves: 'workspace' };
    await answer(fixture.at({ workspace }), 'coding_register_runner', register, runner);
    const claim = await answer(fixture.at({ workspace }), 'coding_claim_task', {}, runner);
    assert.equal(Object(claim['result']).task, null);
    assert.equal((await fixture.task(theirs)).status, 'cancelled');
  });
});
