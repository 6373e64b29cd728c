/** An instance of the built function as on Cloud Run: the environment sets its parameters, and SIGTERM ends it. */
import assert from 'node:assert/strict';
import { z } from 'zod';
import { mcpHeaders, mcpMessage, post } from '../../bench/load/client.ts';
import { type FunctionServer, musterFunction, serveFunction } from '../../bench/servers/functionServer.ts';
import { agentMetricsPath, realtimeDatabase } from '../../functions/src/kernel/realtime/database.ts';
import { registerAgent, type TestAgent } from './support/agents.ts';
import { eventually } from './support/waiting.ts';

const answer = z.object({
  result: z.object({ structuredContent: z.record(z.string(), z.unknown()), isError: z.boolean().optional() }),
});

describe('an instance of the function mcp', () => {
  let instance: FunctionServer | undefined;

  afterEach(() => instance?.end());

  const start = async (parameters: Readonly<Record<string, string>>) => {
    instance = await serveFunction({ ...musterFunction, env: parameters });
    return instance;
  };

  const heartbeat = async ({ url }: FunctionServer, { id, token }: TestAgent) => {
    const message = mcpMessage('tools/call', { name: 'coordination_heartbeat', arguments: { agent_id: id } });
    return answer.parse(JSON.parse((await post(url, mcpHeaders(token), message)).text)).result;
  };

  it('stores the number of calls per agent before it exits after SIGTERM', async () => {
    const agent = await registerAgent('counted');
    const running = await start({});
    for (let made = 0; made < 3; made++) await heartbeat(running, agent);
    await running.end();
    const counts = (await (await realtimeDatabase()).ref(agentMetricsPath(agent.id)).get()).val();
    assert.equal(counts?.calls, 3);
  });

  it('loads the code of its services before the first request only if MIN_INSTANCES is set', async () => {
    const lazy = await start({});
    const before = lazy.residentKibibytes();
    await lazy.end();
    const ready = await start({ MIN_INSTANCES: '1' });
    await eventually('the code is loaded', async () => ready.residentKibibytes() > 1.3 * before || undefined);
  });

  it('limits calls according to RATE_LIMIT_PER_SECOND and RATE_LIMIT_BURST', async () => {
    const agent = await registerAgent('limited');
    const running = await start({ RATE_LIMIT_PER_SECOND: '1', RATE_LIMIT_BURST: '3' });
    // Until a new instance is connected to the databases, heartbeats fail with another error.
    await eventually('a heartbeat succeeds', async () => {
      const { isError } = await heartbeat(running, agent);
      return isError !== true || undefined;
    });
    const made = await Promise.all(Array.from({ length: 20 }, () => heartbeat(running, agent)));
    const errors = made.flatMap(({ isError, structuredContent }) =>
      isError === true ? [String(structuredContent['error'])] : [],
    );
    assert.ok(errors.length > 10, `${errors.length} of 20 calls were refused`);
    for (const error of errors) assert.match(error, /^Rate limit exceeded\. Retry in \d+ seconds?\.$/);
  });
});
