/** Calls that wait for the end of a coding task, and coding tasks as tasks of MCP. */
import assert from 'node:assert/strict';
import { endpointSettings, type RunningEndpoint, serveEndpoint } from '../../support/mcp-endpoint.ts';
import { type Fields, resultOf, send } from '../../support/modernCalls.ts';
import { authenticatorOf, personOf } from '../../support/principals.ts';
import { silent } from '../coordination/team.ts';
import { CodingTeam, fields } from './calls.ts';

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('report_task until the end', () => {
  let team: CodingTeam;
  let endpoint: RunningEndpoint;

  beforeEach(async () => {
    team = await new CodingTeam().begin();
    const authenticator = authenticatorOf(team.creator);
    endpoint = await serveEndpoint({ ...team.app.calls, authenticator, ...endpointSettings(), log: silent });
  });
  afterEach(() => endpoint.close());

  const ask = async (method: string, params: Fields, path = '/mcp') =>
    resultOf(await send(`${endpoint.url}${path}`, method, params));
  const until = (taskId: string) => ({
    name: 'coding_report_task',
    arguments: { workspace: team.workspace, taskId, until: 'end' },
  });

  it('waits if the client does not support tasks', async () => {
    const taskId = await team.order();
    const waiting = send(`${endpoint.url}/mcp`, 'tools/call', until(taskId), { capabilities: {} });
    await team.take();
    await team.ask('end_task', { taskId, status: 'completed', epoch: 1, result: { summary: 'Done' } });
    const { result } = fields(resultOf(await waiting)['structuredContent']);
    assert.equal(fields(fields(result)['task'])['status'], 'completed');
  });

  it('becomes a task, whose result is the report, even at an address of another workspace', async () => {
    const taskId = await team.order();
    const started = await ask('tools/call', until(taskId));
    const { createdAt, lastUpdatedAt, content: _addedBySdk, ...rest } = started;
    const pending = {
      taskId,
      status: 'working',
      statusMessage: 'Waiting for a runner.',
      ttlMs: null,
      pollIntervalMs: 10_000,
    };
    assert.deepEqual(rest, { resultType: 'task', ...pending });
    assert.equal(createdAt, lastUpdatedAt);
    await team.take();
    await team.ask('heartbeat_task', { taskId, epoch: 1, state: 'in_progress', progress: 'Testing' });
    assert.equal((await ask('tasks/get', { taskId }))['statusMessage'], 'Attempt 1: Testing');
    await team.ask('end_task', {
      taskId,
      status: 'failed',
      epoch: 1,
      failure: { class: 'acceptance_failed', message: 'No' },
    });
    const { status, result } = await ask('tasks/get', { taskId });
    assert.equal(status, 'completed');
    assert.deepEqual(result, await ask('tools/call', until(taskId)));
  });

  it('is cancelled with the task', async () => {
    const taskId = await team.order();
    await ask('tools/call', until(taskId));
    await ask('tasks/cancel', { taskId });
    await ask('tasks/cancel', { taskId });
    assert.equal((await ask('tasks/get', { taskId }))['status'], 'cancelled');
    assert.deepEqual(fields((await team.shown(taskId))['failure'])['class'], 'cancelled');
  });

  it('is unknown to callers without a role in its workspace', async () => {
    const taskId = await team.order();
    const authenticator = authenticatorOf(personOf('stranger', 'worker', 'elsewhere'));
    const strange = await serveEndpoint({ ...team.app.calls, authenticator, ...endpointSettings(), log: silent });
    const { error } = await send(`${strange.url}/mcp`, 'tasks/get', { taskId });
    await strange.close();
    assert.deepEqual(error, { code: -32602, message: `Unknown task: ${taskId}` });
    for (const hostile of ['task-a/b', 'task-../people', 'task-a b', 'task-', `task-${'x'.repeat(2000)}`]) {
      const refused = await send(`${endpoint.url}/mcp`, 'tasks/get', { taskId: hostile });
      assert.equal(fields(refused['error'])['code'], -32602, hostile);
    }
  });

  it('stores the trace of the call that created the task, for the runner', async () => {
    const args = { tool: 'CLAUDECODE', description: 'Add a login', instructions: 'Use JWT', workspace: team.workspace };
    const call = { name: 'coding_create_task', arguments: args };
    resultOf(await send(`${endpoint.url}/mcp`, 'tools/call', call, { meta: { traceparent: TRACE } }));
    resultOf(await send(`${endpoint.url}/mcp`, 'tools/call', call, { meta: { traceparent: 'x' } }));
    const traces = [(await team.take())['traceparent'], (await team.take())['traceparent']];
    assert.deepEqual(new Set(traces), new Set([TRACE, undefined]));
  });
});
