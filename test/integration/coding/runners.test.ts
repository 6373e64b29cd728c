import assert from 'node:assert/strict';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { personOf } from '../../support/principals.ts';
import { answer } from '../coordination/calls.ts';
import { CodingTeam, entry, fields } from './calls.ts';

const END = { status: 'failed', epoch: 1 } as const;

describe('runners', () => {
  let team: CodingTeam;
  beforeEach(async () => {
    team = await new CodingTeam().begin();
  });

  const claimNothing = async (args: object = {}, principal = team.runner): Promise<void> => {
    assert.deepEqual(await team.ask('claim_task', { ...args }, principal), { task: null });
  };

  it('claim only tasks for the coding tools that they support, in queue order', async () => {
    await team.createOne({ required_capabilities: ['claude'] });
    await team.createOne();
    await claimNothing();
    const second = await team.order({ priority: 3 });
    const first = await team.order({ priority: 1 });
    await team.order({ tool: 'GEMINI', priority: 1 });
    assert.deepEqual([(await team.take())['id'], (await team.take())['id']], [first, second]);
    await claimNothing();
    await claimNothing({ tools: ['CLAUDECODE'] });
    assert.equal((await team.take({ tools: ['GEMINI'] }))['tool'], 'GEMINI');
  });

  it('claim tasks for a tool that only they know, which a capability of that name cannot claim', async () => {
    const refused = () => team.refused('create_task', { tool: 'RUST', description: 'x', instructions: 'y' });
    assert.match(await refused(), /declared: no other tools/);
    const programs = [{ name: 'rust', version: '1.0.0' }];
    assert.match(
      await team.refused('register_runner', { programs: [{ name: 'My agent', version: '1' }] }),
      /lower-case/,
    );
    await team.ask('register_runner', { programs, serves: 'workspace' });
    const taskId = await team.order({ tool: 'RUST', config: { project: 'owner/name' } });
    const rust = await team.join('ann', ['rust', 'claude', 'project:owner/name'], 'workspace');
    assert.equal(await team.claim(rust), undefined);
    await claimNothing({ project: 'owner/name' }, team.principal('ann'));
    await claimNothing({ tools: ['CLAUDECODE', 'CODEX'], project: 'owner/name' });
    const { id, tool } = await team.take({ tools: ['RUST', 'CODEX'], project: 'owner/name' });
    assert.deepEqual([id, tool], [taskId, 'RUST']);
    const { tools } = JSON.parse(await team.read('agent://status'));
    assert.deepEqual(tools.at(-1), { tool: 'RUST', runners: [{ id: team.runner.agent_id, availability: 'busy' }] });
    assert.match(
      await team.refused('create_task', { tool: 'VIM', description: 'x', instructions: 'y' }),
      /declared: RUST/,
    );
  });

  it('claim tasks of their project, and tasks without a project, which then get this project', async () => {
    const elsewhere = await team.order({ config: { project: 'owner/other' }, priority: 1 });
    const anywhere = await team.order({ priority: 2 });
    const task = await team.take({ project: 'owner/name' });
    assert.deepEqual([task['id'], task['project']], [anywhere, 'owner/name']);
    await claimNothing({ project: 'owner/name' });
    await claimNothing();
    assert.equal((await team.take({ project: 'owner/other' }))['id'], elsewhere);
  });

  it('claim a task by its id if it is available and for one of their tools', async () => {
    await team.order({ priority: 1 });
    const taskId = await team.order({ priority: 9 });
    assert.equal((await team.take({ taskId }))['id'], taskId);
    await claimNothing({ taskId });
    await team.ask('end_task', { taskId, status: 'completed', epoch: 1 });
    assert.match(await team.refused('claim_task', { taskId }), /^CONFLICT .*done/);
    assert.match(await team.refused('claim_task', { taskId: 'task-none-1' }), /^NOT_FOUND/);
    const gemini = await team.order({ tool: 'GEMINI' });
    assert.match(await team.refused('claim_task', { taskId: gemini }), /^CONFLICT .*gemini/);
  });

  for (const [when, prepare] of [
    ['in an open session', async (): Promise<unknown> => team.createOne()],
    ['if no session is open yet', async (): Promise<unknown> => undefined],
  ] as const)
    it(`wait until a task is created ${when}`, async () => {
      await prepare();
      const waiting = team.take({ waitMs: 25_000 });
      const taskId = await team.order();
      assert.equal((await waiting)['id'], taskId);
    });

  it('get the same task again if they repeat a claim with the same idempotency key', async () => {
    const [first, second] = [await team.order({ priority: 1 }), await team.order({ priority: 2 })];
    const claim = { idempotency_key: 'a-claim' };
    const taken = await team.take(claim);
    assert.equal(taken['id'], first);
    // Repeats the claim, as after a lost response.
    assert.deepEqual(await team.take(claim), taken);
    assert.deepEqual(await team.counts(), { available: 1, claimed: 1 });
    assert.equal((await team.take({ idempotency_key: 'another-claim' }))['id'], second);
  });

  it('do not get a coding task that they hold from coordination.claim_task', async () => {
    await team.allow(team.runner.agent_id ?? '', 5);
    await team.take({ taskId: await team.order() });
    const other = await team.createOne();
    assert.equal(await team.claim(team.runner.agent_id ?? ''), other.id);
    await team.start(team.runner.agent_id ?? '', other.id);
    assert.equal(await team.claim(team.runner.agent_id ?? ''), undefined);
  });

  it('get no task if none is created while they wait, or if their client disconnects', async () => {
    await claimNothing({ waitMs: 100 });
    const missing = AbortSignal.abort();
    const claimed = await team.app.services.codingRunners.claim(
      team.runner,
      { workspace: team.workspace, waitMs: 20_000, leaseSeconds: 60 },
      { disconnectSignal: () => missing, trackWait: (wait) => wait },
      () => undefined,
    );
    assert.equal(claimed.task, undefined);
  });

  it('receive their unread messages with each claimed task', async () => {
    const agent_id = String(team.runner.agent_id);
    const written = { agent_id, message: 'Use the new API.' };
    await answer(team, 'coordination_message_agent', written);
    await claimNothing();
    await team.order();
    const reported = async (args: JsonObject = {}) => {
      const { task, messages = [] } = await team.ask('claim_task', args);
      assert.ok(task);
      return Object(messages);
    };
    const [first, ...more] = await reported();
    assert.deepEqual([first.from, first.text, more], [team.leader.agent_id, written.message, []]);
    await team.order();
    assert.deepEqual(await reported(), [first]);
    await team.order();
    assert.deepEqual(await reported({ readUntil: first.id }), []);
    await answer(team, 'coordination_message_agent', { ...written, message: 'And the old one.' });
    await team.order();
    const texts = (await reported({ readUntil: first.id })).map(({ text }: { text: string }) => text);
    assert.deepEqual(texts, ['And the old one.']);
  });

  it('get different tasks if several runners wait concurrently', async () => {
    const waiting = Array.from({ length: 5 }, () => team.take({ waitMs: 25_000 }));
    const ordered: string[] = [];
    for (let count = 0; count < 5; count++) ordered.push(await team.order());
    const taken = await Promise.all(waiting);
    assert.deepEqual(taken.map(({ id }) => String(id)).sort(), ordered.sort());
  });

  it('lose a task if its lease expires, and the next runner gets data of the lost attempt', async () => {
    const taskId = await team.order();
    await team.take({ leaseSeconds: 60 });
    // Other calls of the agent do not renew the lease of a coding task.
    team.pass(50);
    await team.app.access.ports.presence.touch(team.runner.agent_id ?? '');
    team.pass(20);
    await team.sweep();
    assert.equal((await team.shown(taskId))['state'], 'available');
    const other = team.principal('other');
    await team.join('other', ['claude'], 'workspace');
    const task = await team.take({}, other);
    const previous = fields(task['previous']);
    assert.deepEqual([task['epoch'], previous['runner']], [2, team.runner.agent_id]);
    assert.equal(fields(previous['failure'])['class'], 'runner_lost');
    for (const lost of [await team.ask('heartbeat_task', { taskId, epoch: 1 }), await team.log(taskId, 1, [entry(0)])])
      assert.equal(fields(lost['stop'])['reason'], 'claim_lost');
    assert.equal((await team.ask('end_task', { taskId, status: 'completed', epoch: 1 }))['outcome'], 'late');
    const done = { taskId, status: 'completed', epoch: 2, result: { summary: 'by the other' } };
    await team.ask('end_task', done, other);
    assert.deepEqual((await team.report(taskId))['result'], done.result);
    assert.deepEqual(await team.counts(), { done: 1 });
  });

  it('can still end a task after its lease has expired if no other runner has claimed it', async () => {
    const taskId = await team.order();
    await team.take({ leaseSeconds: 60 });
    team.pass(70);
    await team.sweep();
    const beat = await team.log(taskId, 1, [entry(0)]);
    assert.equal(beat['stop'], undefined);
    const task = await team.shown(taskId);
    assert.deepEqual([task['state'], task['attempt']], ['in_progress', 1]);
    assert.deepEqual((await team.report(taskId))['attempts'], []);
    const agent = await team.app.access.ports.agents.find(team.runner.agent_id ?? '');
    assert.deepEqual(Object.keys(agent?.value.held ?? {}), [taskId]);
    assert.deepEqual(await team.counts(), { in_progress: 1 });
    await team.ask('end_task', { taskId, status: 'completed', epoch: 1 });
    assert.deepEqual(await team.counts(), { done: 1 });
  });

  it('renew their lease by heartbeats, without a database write per heartbeat', async () => {
    const taskId = await team.order();
    const leased = (await team.take({ leaseSeconds: 60 }))['leaseUntil'];
    await team.ask('heartbeat_task', { taskId, epoch: 1, state: 'in_progress' });
    const { version } = (await team.app.coordination.ports.tasks.find(taskId)) ?? {};
    assert.equal((await team.ask('heartbeat_task', { taskId, epoch: 1 }))['leaseUntil'], leased);
    assert.equal((await team.app.coordination.ports.tasks.find(taskId))?.version, version);
    team.pass(30);
    const renewed = await team.log(taskId, 1, []);
    assert.notEqual(renewed['leaseUntil'], leased);
    team.pass(50);
    await team.sweep();
    assert.equal((await team.shown(taskId))['state'], 'in_progress');
  });

  it('get a crashing task three times at most; then the task fails', async () => {
    const taskId = await team.order();
    const failure = { class: 'crashed', message: 'The CLI crashed' };
    for (const [epoch, outcome] of [
      [1, 'retried'],
      [2, 'retried'],
      [3, 'ended'],
    ] as const) {
      assert.equal((await team.take())['epoch'], epoch);
      const end = { ...END, taskId, epoch, failure, result: { commits: [{ sha: `${epoch}`, subject: 'x' }] } };
      assert.equal((await team.ask('end_task', end))['outcome'], outcome);
    }
    const { task, attempts } = await team.report(taskId);
    assert.deepEqual([fields(task)['status'], fields(fields(task)['failure'])['class']], ['failed', 'crashed']);
    assert.ok(Array.isArray(attempts) && attempts.length === 2);
    assert.deepEqual(fields(attempts[1])['commits'], [{ sha: '2', subject: 'x' }]);
  });

  it('can report a different branch than requested; the next attempt uses the reported branch', async () => {
    const taskId = await team.order();
    const chosen = String((await team.take())['branch']);
    assert.match(chosen, /^task\//);
    const failure = { class: 'crashed', message: 'The CLI crashed' };
    const end = (epoch: number, branch: string) =>
      team.ask('end_task', { ...END, taskId, epoch, failure, result: { branch } });
    await end(1, 'main');
    assert.equal((await team.take())['branch'], chosen, 'a reported branch with an unrelated name is ignored');
    const used = chosen.replace('/', '-');
    await end(2, used);
    assert.equal((await team.take())['branch'], used);
  });

  it('get a task again 30 s after a rate limit, but never after a permanent failure', async () => {
    const taskId = await team.order();
    await team.take();
    const limited = { class: 'rate_limit', message: 'Too many requests' };
    await team.ask('end_task', { ...END, taskId, failure: limited });
    await claimNothing();
    team.pass(31);
    assert.equal((await team.take())['epoch'], 2);
    const hopeless = { class: 'authentication', message: 'The key is wrong' };
    const ended = await team.ask('end_task', { ...END, taskId, epoch: 2, failure: hopeless });
    assert.equal(ended['outcome'], 'ended');
    const other = await team.order();
    await team.take();
    const final = { class: 'crashed', message: 'It would crash again', retryable: false };
    assert.equal((await team.ask('end_task', { ...END, taskId: other, failure: final }))['outcome'], 'ended');
  });

  it('can return a task to the queue any number of times without using up an attempt', async () => {
    const taskId = await team.order({ config: { queueSeconds: 3600 } });
    const failure = { class: 'authentication', message: 'Not logged in', returnAfterSeconds: 30 };
    const result = { tokens: { input: 10, output: 5, cacheRead: 0 } };
    for (const epoch of [1, 2, 3, 4, 5]) {
      const taken = await team.take();
      assert.deepEqual([taken['epoch'], taken['attempt']], [epoch, 1]);
      assert.equal(taken['previous'], undefined);
      const returned = await team.ask('end_task', { ...END, taskId, epoch, failure, result });
      assert.equal(returned['outcome'], 'returned');
      await claimNothing();
      team.pass(31);
    }
    const { task, attempts } = await team.report(taskId);
    assert.deepEqual(attempts, []);
    assert.equal(fields(fields(task)['failure'])['class'], 'authentication');
    const taken = await team.take();
    assert.equal(taken['attempt'], 1);
    const crashed = { class: 'crashed', message: 'It crashed' };
    const ended = await team.ask('end_task', { ...END, taskId, epoch: 6, failure: crashed });
    assert.equal(ended['outcome'], 'retried');
    assert.equal((await team.take())['attempt'], 2);
  });

  it('can return a task to the queue only while they hold it', async () => {
    const taskId = await team.order();
    const failure = { class: 'crashed', message: 'Not yet', returnAfterSeconds: 0 };
    const end = { taskId, status: 'failed', failure } as const;
    assert.match(await team.refused('end_task', end, team.creator), /^CONFLICT .*do not hold/);
    await team.take();
    assert.match(await team.refused('end_task', end, team.creator), /^CONFLICT .*do not hold/);
    const final = { ...end, epoch: 1, failure: { ...failure, retryable: false } };
    assert.match(await team.refused('end_task', final), /^VALIDATION_ERROR/);
    assert.equal((await team.ask('end_task', { ...end, epoch: 1 }))['outcome'], 'returned');
    assert.equal((await team.take())['epoch'], 2);
  });

  it('cannot claim a task after its queueSeconds, because the task has failed', async () => {
    const taskId = await team.order({ config: { queueSeconds: 60 } });
    const patient = await team.order();
    team.pass(61);
    await team.sweep();
    const task = await team.shown(taskId);
    assert.deepEqual([task['status'], fields(task['failure'])['class']], ['failed', 'queue_expired']);
    assert.equal((await team.shown(patient))['status'], 'pending');
    assert.deepEqual(await team.counts(), { failed: 1, available: 1 });
  });

  it('can be agents for which their owner makes the calls', async () => {
    const taskId = await team.order();
    const owner = personOf(team.runner.owner_uid, 'worker', team.workspace);
    assert.match(await team.refused('claim_task', {}, owner), /^REQUIRED_FIELD .*agentId/);
    const agentId = team.runner.agent_id ?? '';
    assert.match(
      await team.refused('claim_task', { agentId }, personOf('somebody', 'worker', team.workspace)),
      /^FORBIDDEN/,
    );
    assert.equal((await team.take({ agentId }, owner))['id'], taskId);
    await team.ask('end_task', { taskId, status: 'completed', epoch: 1 }, owner);
    assert.equal((await team.shown(taskId))['runner'], agentId);
  });

  it('claim tasks of their owner, and tasks of other owners only if they serve the workspace', async () => {
    const { store } = team.app.kernel;
    const { workspace } = team;
    await store.commit([{ kind: 'setPerson', uid: team.runner.owner_uid, role: 'admin' }]);
    const member = { uid: team.runner.owner_uid, workspace, role: 'worker' as const, added_by: 'ada' };
    await store.commit([{ kind: 'setMember', member: { ...member, added_at: team.now } }]);
    const others = await team.order({ priority: 1 });
    const programs = [{ name: 'claude', version: '2.1' }];
    await team.ask('register_runner', { programs });
    const draft = { tool: 'CLAUDECODE', description: 'Mine', instructions: 'Use JWT' };
    const own = String((await team.ask('create_task', draft, team.runner))['taskId']);
    assert.equal((await team.take())['id'], own, "the owner's task comes first, despite its lower priority");
    assert.match(await team.refused('claim_task', { taskId: others }), /^CONFLICT .*its owner is not the owner/);
    const { task } = await team.ask('claim_task', {});
    assert.equal(task ?? undefined, undefined, 'a task of another owner is not claimed');
    await team.ask('register_runner', { programs, serves: 'workspace' });
    assert.equal((await team.take())['id'], others);
  });
});
