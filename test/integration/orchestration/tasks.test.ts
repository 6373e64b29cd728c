/** Runs as tasks of MCP, with the tasks client of the MCP project and several instances. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  createTaskSessionFromClient,
  type RawClientDispatch,
  resultFromTaskOutcome,
} from '@modelcontextprotocol/ext-tasks/client';
import { z } from 'zod';
import type { Composition } from '../../../functions/src/composition/compose.ts';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import { endpointSettings, type RunningEndpoint, serveEndpoint } from '../../support/mcp-endpoint.ts';
import { type Fields, FRAMING, resultOf, send, TASKS_CLIENT } from '../../support/modernCalls.ts';
import { agentOf, authenticatorOf } from '../../support/principals.ts';
import { silent } from '../coordination/team.ts';
import { OrchestrationFixture } from './fixture.ts';

const sent = z.looseObject({ method: z.string(), params: z.record(z.string(), z.unknown()).default({}) });
const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const ENOUGH = { tokens: 1_000_000, cost_usd: 10 };

describe('a run that MCP shows as a task', () => {
  const fixture = new OrchestrationFixture();
  const endpoints: RunningEndpoint[] = [];

  before(() => fixture.start());
  after(() => fixture.stop());
  afterEach(async () => {
    fixture.losing = false;
    await Promise.all(endpoints.splice(0).map((endpoint) => endpoint.close()));
  });

  async function serve(app: Composition = fixture.app, by: Principal = fixture.principal) {
    const ports = { ...app.calls, authenticator: authenticatorOf(by), ...endpointSettings(), log: silent };
    const endpoint = await serveEndpoint(ports);
    endpoints.push(endpoint);
    return endpoint;
  }

  const request = ({ url }: RunningEndpoint, method: string, params: Fields) =>
    send(`${url}/mcp?workspace=${fixture.workspace}`, method, params);
  const call = async (endpoint: RunningEndpoint, args: Fields) =>
    resultOf(await request(endpoint, 'tools/call', { name: 'orchestration_orchestrate', arguments: args }));
  const get = async (endpoint: RunningEndpoint, taskId: unknown) =>
    resultOf(await request(endpoint, 'tasks/get', { taskId }));

  it('ends for a client that waits at another instance after the first was killed', async () => {
    fixture.losing = true;
    const first = await serve();
    const other = fixture.anotherInstance();
    const second = await serve(other);
    let alive = first;
    const rawDispatch: RawClientDispatch = async (asked) => {
      const { method, params } = sent.parse(asked);
      const { result, error } = await request(alive, method, params);
      if (error !== undefined)
        return { kind: 'error', error: z.object({ code: z.number(), message: z.string() }).parse(error) };
      return { kind: 'result', result: z.json().parse(result) };
    };
    const client = new Client(FRAMING.clientInfo, {
      capabilities: TASKS_CLIENT,
      versionNegotiation: { mode: { pin: FRAMING.protocolVersion } },
    });
    const requestInit = { headers: { Authorization: 'Bearer any' } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${first.url}/mcp`), { requestInit }));
    const session = createTaskSessionFromClient(client, {
      endpointId: 'test',
      rawDispatch,
      v2RequestFraming: { ...FRAMING, clientCapabilities: TASKS_CLIENT },
    });
    const args = { prompt: fixture.question(), options: { timeout: 1, budget: ENOUGH }, idempotency_key: randomUUID() };
    const execution = await session.callTool('orchestration_orchestrate', args);
    await first.close();
    alive = second;
    const [runId = ''] = fixture.dispatched.slice(-1);
    await fixture.deliver(runId, other);
    const polled = resultFromTaskOutcome((await execution.settle()).outcome);
    const waited = await call(second, args);
    assert.equal(z.looseObject({ runId: z.string() }).parse(polled.structuredContent).runId, runId);
    assert.deepEqual([polled.structuredContent, polled.content], [waited['structuredContent'], waited['content']]);
    assert.equal(waited['resultType'], 'complete');
    await session.close();
    await client.close();
  });

  it('is a complete result if the run ends within seconds, and stores the trace of the call', async () => {
    const args = { prompt: fixture.question(), options: { budget: ENOUGH } };
    const meta = { traceparent: TRACE };
    const { url } = await serve();
    const result = resultOf(
      await send(`${url}/mcp`, 'tools/call', { name: 'orchestration_orchestrate', arguments: args }, { meta }),
    );
    assert.equal(result['resultType'], 'complete');
    const { status, runId } = z
      .looseObject({ status: z.string(), runId: z.string() })
      .parse(result['structuredContent']);
    assert.equal(status, 'succeeded');
    assert.equal((await fixture.app.orchestration.ports.runs.find(runId))?.value.traceparent, TRACE);
  });

  it('can be cancelled by its owner, and is unknown to others', async () => {
    fixture.losing = true;
    const own = await serve();
    const started = await call(own, { prompt: fixture.question(), options: { timeout: 0 } });
    const { taskId } = started;
    assert.deepEqual([started['resultType'], started['status'], started['pollIntervalMs']], ['task', 'working', 2000]);
    const stranger = await serve(fixture.app, agentOf('stranger', `owner-${randomUUID()}`, 'worker'));
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const { error } = await request(stranger, method, { taskId, inputResponses: {} });
      const message = `Unknown task: ${taskId}`;
      assert.deepEqual(error, { code: -32602, message }, method);
    }
    assert.equal((await get(own, taskId))['status'], 'working');
    for (const _twice of [1, 2])
      assert.equal(resultOf(await request(own, 'tasks/cancel', { taskId }))['resultType'], 'complete');
    assert.equal((await get(own, taskId))['status'], 'cancelled');
  });

  it('is completed with the error that a waiting call gets, if the run fails', async () => {
    fixture.losing = true;
    const endpoint = await serve();
    const args = {
      prompt: fixture.question(),
      options: { timeout: 0, budget: { tokens: 1 } },
      idempotency_key: randomUUID(),
    };
    const { taskId } = await call(endpoint, args);
    await fixture.deliver(String(taskId));
    const { status, result } = await get(endpoint, taskId);
    assert.equal(status, 'completed');
    const waited = await call(endpoint, args);
    assert.deepEqual(result, waited);
    assert.equal(waited['isError'], true);
  });

  it('asks the person who set an exhausted budget to open the page of the question', async () => {
    const endpoint = await serve();
    const { workspace, owner: owner_uid } = fixture;
    const budget = {
      kind: 'workspace',
      thing_id: workspace,
      workspace,
      owner_uid,
      set_at: new Date(),
      round: 1,
      tokens: 1,
    } as const;
    await fixture.app.kernel.store.commit([{ kind: 'setBudget', budget, before: undefined }]);
    const { taskId } = await call(endpoint, { prompt: fixture.question(), options: { timeout: 0, budget: ENOUGH } });
    await fixture.until(String(taskId), ({ budget_wait }) => budget_wait?.is_spent === true);
    const { status, inputRequests } = await get(endpoint, taskId);
    assert.equal(status, 'input_required');
    const [[key = '', asked] = []] = Object.entries(z.record(z.string(), z.unknown()).parse(inputRequests));
    assert.match(JSON.stringify(asked), new RegExp(`"url":"[^"]+request=${key}[^"]*","mode":"url"`));
    const inputResponses = { [key]: { action: 'accept' }, unknown: { action: 'accept' } };
    assert.equal(
      resultOf(await request(endpoint, 'tasks/update', { taskId, inputResponses }))['resultType'],
      'complete',
    );
    assert.equal((await get(endpoint, taskId))['status'], 'working', 'a page that was opened raises no budget');
    assert.equal((await fixture.app.inbox.ports.requests.find(key))?.value.state, 'open');
  });
});
