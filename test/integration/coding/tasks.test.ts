import assert from 'node:assert/strict';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { call } from '../coordination/calls.ts';
import { CodingTeam, entry, fields } from './calls.ts';

describe('coding tasks', () => {
  let team: CodingTeam;
  beforeEach(async () => {
    team = await new CodingTeam().begin();
  });

  it('get a branch name when they are created, and a new session if no session is open', async () => {
    const created = await team.ask(
      'create_task',
      { tool: 'CLAUDECODE', description: 'Änder the Login!', instructions: 'Use JWT' },
      team.creator,
    );
    assert.match(String(created['branch']), /^task\/[a-z0-9]{8}-ander-the-login$/);
    const task = fields(created['task']);
    assert.deepEqual([task['status'], task['state'], task['attempt']], ['pending', 'available', 0]);
    const session = await team.app.services.coordination.session(team.workspace);
    assert.equal(session?.goal, 'Coding');
  });

  it('have a message on how to start a runner if no runner is registered at their creation', async () => {
    const args = { tool: 'CLAUDECODE', description: 'Fix it', instructions: 'Fix the parser.' };
    const { structuredContent } = await call(team, 'coding_create_task', args, team.creator);
    assert.match(
      String(structuredContent['message']),
      /waits for a runner that has claude.*: npm run runner -- --repo <checkout> --url "\S+\?workspace=\S+", .* MUSTER_TOKEN/,
    );
  });

  it('remain claimable when init_coordination sets the goal of their session', async () => {
    const taskId = await team.order();
    await team.app.services.coordination.initialize(team.workspace, { goal: 'A better goal' }, () => undefined);
    assert.equal((await team.take())['id'], taskId);
  });

  it('can be claimed, worked on and ended with a result', async () => {
    const taskId = await team.order({ branch: 'feature/auth', config: { base: 'main' } });
    const task = await team.take({ tools: ['CLAUDECODE'] });
    assert.deepEqual(
      [task['id'], task['epoch'], task['attempt'], task['branch'], task['config'], task['instructions']],
      [taskId, 1, 1, 'feature/auth', { base: 'main' }, 'Use JWT'],
    );
    assert.equal((await team.shown(taskId))['status'], 'pending');
    await team.log(taskId, 1, [entry(0)]);
    assert.equal((await team.shown(taskId))['status'], 'in_progress');
    await team.ask('heartbeat_task', { taskId, epoch: 1, state: 'waiting', progress: 'Committing' });
    const waiting = await team.shown(taskId);
    assert.deepEqual([waiting['state'], waiting['progress']], ['waiting', 'Committing']);
    const result = { summary: 'Made it', commits: [{ sha: 'abc', subject: 'Log in' }], matrix: [[1], [2]] };
    const report = { taskId, status: 'completed', epoch: 1, result };
    assert.equal((await team.ask('end_task', report))['outcome'], 'ended');
    assert.equal((await team.ask('end_task', report))['outcome'], 'repeated');
    const shown = await team.report(taskId);
    assert.deepEqual(shown['result'], result);
    const { status, summary, runner } = fields(shown['task']);
    assert.deepEqual([status, summary, runner], ['completed', 'Made it', team.runner.agent_id]);
    assert.deepEqual(await team.counts(), { done: 1 });
    assert.deepEqual((await team.app.access.ports.agents.find(String(runner)))?.value.held, {});
  });

  it('store data and results that are passed as JSON text as text, and the response says so', async () => {
    const taskId = await team.order();
    await team.take();
    const messageOf = async (tool: string, args: JsonObject) => {
      const { structuredContent } = await call(team, `coding_${tool}`, { taskId, epoch: 1, ...args }, team.runner);
      return String(structuredContent['message']);
    };
    const entries = [entry(0, 'read', { data: '[1]' }), entry(1, 'read', { data: '1' })];
    assert.match(await messageOf('append_logs', { entries }), /^2 entries .* entry was stored as text\. To store/);
    assert.doesNotMatch(await messageOf('append_logs', { entries: entries.slice(1) }), /stored as text/);
    const end = { status: 'completed', result: '{"summary":"Made it"}' };
    assert.match(await messageOf('end_task', end), /^Task ended\. The result was stored as text\./);
    assert.equal((await team.report(taskId))['result'], end.result);
  });

  it('store results of up to 1 MiB with any characters, and refuse larger results', async () => {
    const taskId = await team.order();
    await team.take();
    const end = { taskId, status: 'completed', epoch: 1 };
    const tooLarge = { ...end, result: { summary: 'x'.repeat(1024 * 1024) } };
    assert.match(await team.refused('end_task', tooLarge), /^VALIDATION_ERROR .*1048576 bytes/);
    const result = { summary: 'large', text: `x${'😀'.repeat(260_000)}` };
    await team.ask('end_task', { ...end, result });
    assert.deepEqual((await team.report(taskId))['result'], result);
    assert.deepEqual(JSON.parse(await team.read(`task://${taskId}/result`)), result);
  });

  it('never return to an earlier status', async () => {
    const taskId = await team.order();
    await team.take();
    const beat = { taskId, epoch: 1 };
    await team.ask('heartbeat_task', { ...beat, state: 'waiting' });
    assert.match(await team.refused('heartbeat_task', { ...beat, state: 'in_progress' }), /^CONFLICT .*waiting/);
    await team.ask('update_task', { taskId, status: 'completed' });
    for (const status of ['in_progress', 'failed'])
      assert.match(await team.refused('update_task', { taskId, status }, team.leader), /^CONFLICT .*(done|ended)/);
    assert.match(await team.refused('end_task', { taskId, status: 'failed', epoch: 1 }), /^CONFLICT/);
  });

  it('can be set to in_progress by their creator, which changes neither claim nor lease', async () => {
    const taskId = await team.order();
    const { leaseUntil } = await team.take();
    const updated = await team.ask('update_task', { taskId, status: 'in_progress' }, team.creator);
    const task = fields(updated['task']);
    assert.deepEqual(
      [task['status'], task['runner'], task['epoch'], task['leaseUntil']],
      ['in_progress', team.runner.agent_id, 1, leaseUntil],
    );
    assert.deepEqual(await team.counts(), { in_progress: 1 });
    assert.equal((await team.log(taskId, 1, [entry(0)]))['stop'], undefined);
    const again = await team.ask('update_task', { taskId, status: 'in_progress' }, team.leader);
    assert.equal(fields(again['task'])['startedAt'], task['startedAt']);
    await team.ask('end_task', { taskId, status: 'completed', epoch: 1 });
  });

  it('become held by their creator if it sets them to in_progress while no runner holds them', async () => {
    await team.join('creator', []);
    const taskId = await team.order();
    const updated = await team.ask('update_task', { taskId, status: 'in_progress', log: 'Mine.' }, team.creator);
    const task = fields(updated['task']);
    assert.deepEqual([task['state'], task['runner'], task['epoch']], ['in_progress', team.creator.agent_id, 1]);
    assert.deepEqual(await team.counts(), { in_progress: 1 });
    assert.equal((await team.ask('claim_task', {}))['task'], null);
    const held = (await team.app.access.ports.agents.find(team.creator.agent_id ?? ''))?.value.held;
    assert.deepEqual(Object.keys(held ?? {}), [taskId]);
    const ended = await team.ask('update_task', { taskId, status: 'completed' }, team.creator);
    assert.equal(fields(ended['task'])['state'], 'done');
    assert.deepEqual((await team.app.access.ports.agents.find(team.creator.agent_id ?? ''))?.value.held, {});
  });

  it('cannot be set to in_progress by a person, or before their dependencies are done', async () => {
    const taskId = await team.order();
    const { agent_id: _, ...person } = { ...team.creator, kind: 'person' as const };
    const given = { taskId, status: 'in_progress' };
    assert.match(await team.refused('update_task', given, person), /^CONFLICT .*people cannot hold tasks.*claim_task/);
    await team.join('creator', []);
    const later = { taskId: await team.order({ dependencies: [taskId] }), status: 'in_progress' };
    assert.match(await team.refused('update_task', later, team.creator), /^CONFLICT .*available but blocked.*"taskId"/);
    assert.deepEqual(await team.counts(), { available: 2 });
  });

  it('cause errors that name arguments as the coding tools do', async () => {
    const taskId = await team.order();
    await team.take();
    await team.ask('end_task', { taskId, status: 'completed', epoch: 1 });
    for (const [tool, args, principal] of [
      ['update_task', { taskId, status: 'in_progress' }, team.leader],
      ['end_task', { taskId, status: 'failed', epoch: 1 }, team.runner],
      ['report_task', { taskId: 'task-no-1' }, team.runner],
    ] as const)
      assert.match(await team.refused(tool, args, principal), /"field":"(taskId|status)"/);
    const stranger = team.principal('stranger');
    for (const agentId of ['nobody', team.runner.agent_id ?? ''])
      assert.match(await team.refused('claim_task', { agentId }, stranger), /"field":"agentId"/);
  });

  it("can be ended without a claim only by agents of their creator's owner and by leaders", async () => {
    const sibling = { ...team.principal('sibling'), owner_uid: team.creator.owner_uid };
    const stranger = { ...team.principal('stranger'), owner_uid: 'somebody else' };
    for (const principal of [team.creator, sibling, team.leader]) {
      const taskId = await team.order();
      const end = { taskId, status: 'failed' };
      assert.match(await team.refused('end_task', end, stranger), /^FORBIDDEN/);
      assert.match(await team.refused('update_task', { taskId, log: 'mine now' }, stranger), /^FORBIDDEN/);
      const ended = fields((await team.ask('end_task', end, principal))['task']);
      assert.deepEqual([ended['status'], ended['state']], ['failed', 'cancelled']);
      assert.equal(fields(ended['failure'])['class'], 'cancelled');
    }
    assert.deepEqual(await team.counts(), { cancelled: 3 });
  });

  it("stop their runner when the creator ends them, and store the runner's last lines and result", async () => {
    const taskId = await team.order();
    await team.take();
    await team.log(taskId, 1, [entry(0)]);
    await team.ask('end_task', { taskId, status: 'failed' }, team.creator);
    const beat = await team.ask('heartbeat_task', { taskId, epoch: 1 });
    assert.equal(fields(beat['stop'])['reason'], 'ended');
    assert.equal(beat['leaseUntil'], undefined);
    const last = await team.log(taskId, 1, [entry(1, 'stopped')]);
    assert.deepEqual([last['accepted'], fields(last['stop'])['reason']], [1, 'ended']);
    const report = { taskId, status: 'failed', epoch: 1, result: { summary: 'half of it' } };
    assert.equal((await team.ask('end_task', report))['outcome'], 'kept');
    const shown = await team.report(taskId);
    assert.deepEqual(shown['result'], { summary: 'half of it' });
    assert.equal(fields(shown['task'])['state'], 'cancelled');
  });

  it('are rejected if their tool, branch, config, kind of task or workspace is invalid', async () => {
    const draft = { tool: 'CLAUDECODE', description: 'x', instructions: 'y' };
    assert.match(
      await team.refused('create_task', { ...draft, tool: 'VIM' }),
      /CLAUDECODE, GEMINI, CODEX, OPENCODE, COPILOT\. Runners here declared: no other tools/,
    );
    for (const branch of ['a..b', '-x', 'x.lock', 'a b', '', 'x/'])
      assert.match(await team.refused('create_task', { ...draft, branch }), /^INVALID_FORMAT .*branch/);
    for (const config of [{ queueSeconds: 5 }, { project: '|' }, { project: 5 }])
      assert.match(await team.refused('create_task', { ...draft, config }), /^VALIDATION_ERROR .*config/);
    const { id } = await team.createOne();
    for (const tool of ['report_task', 'get_task_logs'])
      for (const taskId of [id, 'task-no-1']) assert.match(await team.refused(tool, { taskId }), /^NOT_FOUND/);
    assert.match(await team.refused('update_task', { taskId: id }), /^VALIDATION_ERROR .*nothing/i);
    const elsewhere = await new CodingTeam().begin();
    const taskId = await elsewhere.order();
    assert.match(await team.refused('end_task', { taskId, status: 'failed' }, team.leader), /^NOT_FOUND/);
  });

  it('can also be listed and claimed with the tools for tasks of every kind', async () => {
    const taskId = await team.order();
    const queue = await team.app.services.system.tasks.list(team.leader, {
      workspace: team.workspace,
      type: 'coding',
      includeAssigned: true,
      limit: 5,
    });
    const ids = queue.page.tasks.map(({ id }) => id);
    assert.deepEqual(ids, [taskId]);
    const agentId = team.runner.agent_id ?? '';
    assert.equal(await team.claim(agentId), taskId);
    await team.start(agentId, taskId);
    await team.complete(agentId, taskId, 'By hand');
    assert.equal((await team.shown(taskId))['summary'], 'By hand');
  });

  it('return the first response if their creation or claim is repeated with the same key', async () => {
    const draft = { tool: 'GEMINI', description: 'x', instructions: 'y', idempotency_key: 'once' };
    const first = await team.ask('create_task', draft, team.creator);
    assert.deepEqual(await team.ask('create_task', draft, team.creator), first);
    const claim = { tools: ['GEMINI'], idempotency_key: 'again' };
    assert.deepEqual(await team.take(claim), await team.take(claim));
  });
});
