import assert from 'node:assert/strict';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import { completeVariable, readingContext } from '../../../functions/src/mcp/call.ts';
import { refusal } from '../../support/refusal.ts';
import { answer } from '../coordination/calls.ts';
import { CodingTeam, entry, fields, resources } from './calls.ts';

describe('coding resources', () => {
  let team: CodingTeam;
  let taskId = '';
  before(async () => {
    team = await new CodingTeam().begin();
    taskId = await team.order({ branch: 'feature/auth', config: { project: 'owner/name' } });
    // Gives the second task a later creation time. Lists have the newest task first.
    team.pass(1);
    await team.order({ tool: 'GEMINI', branch: 'Main,2' });
    await team.take({ project: 'owner/name' });
    await team.log(taskId, 1, [entry(0, 'Reading src/app.ts')]);
  });

  const read = async (uri: string) => fields(JSON.parse(await team.read(uri)));

  async function missing(uri: string): Promise<void> {
    await assert.rejects(
      () => team.read(uri),
      (error) => error instanceof MusterError && error.code === 'NOT_FOUND',
    );
  }

  it('return the number of tasks, and for each coding tool the agents that have it', async () => {
    const { activeTasks, pendingTasks, tools } = await read('agent://status');
    assert.deepEqual([activeTasks, pendingTasks], [1, 1]);
    assert.ok(Array.isArray(tools) && tools.length === 5);
  });

  for (const uri of ['task://list', 'agent://tasks'])
    it(`list the tasks at ${uri}`, async () => {
      const { tasks, truncated } = await read(uri);
      assert.ok(Array.isArray(tasks));
      assert.deepEqual([tasks.length, fields(tasks[1])['id'], truncated], [2, taskId, false]);
      assert.equal('instructions' in fields(tasks[1]), false);
    });

  it('return a task with the latest lines of its log', async () => {
    const task = await read(`task://${taskId}`);
    assert.deepEqual([task['status'], task['hasResult']], ['in_progress', false]);
    const { lines, latest } = fields(task['logs']);
    assert.ok(Array.isArray(latest));
    assert.deepEqual([lines, fields(latest[0])['message']], [1, 'Reading src/app.ts']);
  });

  it('return one attempt of a task as a coding session, and a coordination session', async () => {
    const runner = await read(`session://coding/${taskId}.1`);
    assert.deepEqual([runner['isAlive'], runner['runner']], [true, team.runner.agent_id]);
    const open = await team.app.services.coordination.session(team.workspace);
    const coordination = await read(`session://coordination/${open?.id}`);
    assert.deepEqual([coordination['isOpen'], coordination['goal']], [true, 'Coding']);
    await missing(`session://coding/${taskId}.2`);
    await missing('session://coding/task-none-1.1');
    await missing('session://coordination/session-none');
  });

  it('return an archived session and a past attempt', async () => {
    const other = await new CodingTeam().begin();
    const { session } = await other.app.services.coordination.initialize(
      other.workspace,
      { goal: 'One', masterPlan: '' },
      () => undefined,
    );
    const id = await other.order();
    await other.take();
    const failure = { class: 'crashed', message: 'It crashed' };
    await other.ask('end_task', { taskId: id, status: 'failed', epoch: 1, failure });
    await other.app.services.coordination.initialize(other.workspace, { goal: 'Two', masterPlan: '' }, () => undefined);
    const past = fields(JSON.parse(await other.read(`session://coding/${id}.1`)));
    assert.deepEqual([past['isAlive'], fields(past['failure'])['class']], [false, 'crashed']);
    const archived = fields(JSON.parse(await other.read(`session://coordination/${session.id}`)));
    assert.deepEqual([archived['isOpen'], archived['goal']], [false, 'One']);
  });

  it('return the tasks of a branch or project, whether or not slashes in the URI are encoded', async () => {
    for (const uri of ['branch://feature%2Fauth/tasks', 'branch://feature/auth/tasks']) {
      const { branch, tasks } = await read(uri);
      assert.ok(Array.isArray(tasks));
      assert.deepEqual([branch, fields(tasks[0])['id']], ['feature/auth', taskId]);
    }
    assert.deepEqual((await read('branch://Main%2C2/tasks'))['branch'], 'Main,2');
    assert.deepEqual((await read('branch://none/tasks'))['tasks'], []);
    for (const uri of ['project://owner%2Fname/status', 'project://owner/name/status']) {
      const { project, counts } = await read(uri);
      assert.deepEqual([project, fields(counts)['in_progress']], ['owner/name', 1]);
    }
  });

  it('return an error for a task without a result and for an unknown task', async () => {
    for (const uri of [`task://${taskId}/result`, 'task://none', 'task://none/logs', 'task://none/result'])
      await missing(uri);
  });

  describe('read from a second workspace', () => {
    let other: CodingTeam;
    /** Ids of sessions of the first workspace, one of which is open and one is archived. */
    let sessions: readonly string[] = [];

    before(async () => {
      other = await new CodingTeam().begin();
      const { coordination } = team.app.services;
      const open = await coordination.session(team.workspace);
      const old = new CodingTeam();
      await answer(old, 'coordination_init_coordination', { goal: 'One' });
      const first = await old.app.services.coordination.session(old.workspace);
      await answer(old, 'coordination_init_coordination', { goal: 'Two' });
      sessions = [open?.id ?? '', first?.id ?? ''];
      assert.equal(JSON.parse(await old.read(`session://coordination/${first?.id}`)).goal, 'One');
    });

    const refusalOf = async (uri: string, id: string): Promise<string> => {
      const { code, message, details } = await refusal(() => other.read(uri));
      return JSON.stringify([code, message, details]).replaceAll(id, '{id}');
    };

    it('report items of the first workspace as not found', async () => {
      for (const [form, none] of [
        ['task://{id}', 'task-none'],
        ['task://{id}/logs', 'task-none'],
        ['task://{id}/result', 'task-none'],
        ['session://coding/{id}.1', 'task-none'],
      ] as const) {
        const there = await refusalOf(form.replace('{id}', taskId), taskId);
        assert.equal(there, await refusalOf(form.replace('{id}', none), none), form);
        assert.match(there, /^\["NOT_FOUND"/);
      }
      for (const session of sessions) {
        const [uri, none] = [`session://coordination/${session}`, 'session-none'];
        assert.equal(await refusalOf(uri, session), await refusalOf(`session://coordination/${none}`, none));
      }
      const watched = resources.find(`task://${taskId}`);
      assert.ok(watched?.resource.watch);
      const { watch } = watched.resource;
      const context = readingContext(other.ports, other.exchange(other.creator), 'task');
      assert.equal((await refusal(() => watch(context))).code, 'NOT_FOUND');
    });

    it('list no tasks and no log lines of the first workspace', async () => {
      for (const uri of ['task://list', 'agent://tasks', 'branch://feature/auth/tasks']) {
        assert.notDeepEqual((await read(uri))['tasks'], [], uri);
        assert.deepEqual(fields(JSON.parse(await other.read(uri)))['tasks'], [], uri);
      }
      const project = fields(JSON.parse(await other.read('project://owner/name/status')));
      assert.deepEqual([project['tasks'], Object.values(fields(project['counts']))], [[], [0, 0, 0, 0]]);
      const log = 'log://agent/2040-01-01';
      assert.match(await team.read(log), /Reading src/);
      assert.equal(await other.read(log), '');
    });

    it("list only the agents of the reader's workspace", async () => {
      const runners = async (of: CodingTeam) => JSON.stringify(JSON.parse(await of.read('agent://status')).tools);
      for (const [one, another] of [
        [team, other],
        [other, team],
      ] as const) {
        assert.ok((await runners(one)).includes(String(one.runner.agent_id)));
        assert.equal((await runners(one)).includes(String(another.runner.agent_id)), false);
      }
      const status = fields(JSON.parse(await other.read('agent://status')));
      assert.deepEqual([status['activeTasks'], status['pendingTasks']], [0, 0]);
    });

    it("have completions of URI variables only from the reader's workspace", async () => {
      for (const template of [
        ['task://{taskId}', 'taskId'],
        ['task://{taskId}/logs', 'taskId'],
        ['task://{taskId}/result', 'taskId'],
        ['branch://{branchName}/tasks', 'branchName'],
        ['project://{projectPath}/status', 'projectPath'],
        ['session://{sessionType}/{sessionId}', 'sessionId'],
      ] as const) {
        const found = resources.findTemplate(template[0]);
        assert.ok(found);
        const completion = found.template.completions.get(template[1]);
        const of = (asked: CodingTeam) =>
          completeVariable(asked.ports, asked.exchange(asked.creator), { need: found.need, completion, chosen: {} });
        assert.notDeepEqual(await of(team), [], template[0]);
        assert.deepEqual(await of(other), [], template[0]);
      }
    });
  });

  for (const uri of [
    'task://',
    'task://a/b',
    'task://../../etc/passwd',
    'task://%2e%2e%2fsecret',
    'task://%00',
    'task://%zz',
    'task://task 1',
    `task://${'x'.repeat(5000)}`,
    'task://__proto__',
    'session://coding/x',
    'session://coding/x.0',
    'session://shell/x.1',
    'log://agent/2026-13-45',
    'log://agent/..',
    'log://everything/2026-11-22',
    'project:///status',
    'project://%7C/status',
    'branch:///tasks',
    `branch://${'a/'.repeat(400)}/tasks`,
    'TASK://list',
    'task://list?x=1',
  ])
    it(`are not found by the invalid URI ${uri.slice(0, 40)}`, () => assert.equal(resources.find(uri), undefined));

  it('have completions for the variables of their URI templates', async () => {
    const complete = async (uriTemplate: string, variable: string, chosen = {}) => {
      const found = resources.findTemplate(uriTemplate);
      assert.ok(found);
      const completion = found.template.completions.get(variable);
      return completeVariable(team.ports, team.exchange(team.creator), { need: found.need, completion, chosen });
    };
    assert.ok((await complete('task://{taskId}/logs', 'taskId')).includes(taskId));
    assert.deepEqual(await complete('branch://{branchName}/tasks', 'branchName'), ['Main,2', 'feature/auth']);
    assert.deepEqual(await complete('project://{projectPath}/status', 'projectPath'), ['owner/name']);
    assert.deepEqual(await complete('session://{sessionType}/{sessionId}', 'sessionType'), ['coding', 'coordination']);
    const coding = { sessionType: 'coding' };
    assert.deepEqual(await complete('session://{sessionType}/{sessionId}', 'sessionId', coding), [`${taskId}.1`]);
    assert.ok((await complete('log://{logType}/{date}', 'logType')).includes('tool'));
    assert.equal((await complete('log://{logType}/{date}', 'date'))[0], '2040-01-01');
  });

  it('notify a subscriber of every change of a task and its log', async () => {
    const found = resources.find(`task://${taskId}`);
    assert.ok(found?.resource.watch);
    const controller = new AbortController();
    const exchange = team.exchange(team.creator, controller.signal);
    const watch = await found.resource.watch(readingContext(team.ports, exchange, 'task'));
    const changes = watch[Symbol.asyncIterator]();
    assert.equal((await changes.next()).done, false);
    for (const [sequence, message] of ['one', 'two'].entries()) {
      const reported = changes.next();
      await team.log(taskId, 1, [entry(sequence + 1, message)]);
      assert.equal((await reported).done, false);
    }
    const reported = changes.next();
    await team.ask('heartbeat_task', { taskId, epoch: 1, progress: 'Testing' });
    assert.equal((await reported).done, false);
    controller.abort();
    for (let end = await changes.next(); end.done !== true; end = await changes.next());
  });
});
