import assert from 'node:assert/strict';
import { z } from 'zod';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import { requestTimeLeft } from '../../../functions/src/kernel/concurrency.ts';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import { callTool } from '../../../functions/src/mcp/call.ts';
import type { CallContext, RequestContext } from '../../../functions/src/mcp/callContext.ts';
import { type Tool, toolsFor } from '../../../functions/src/mcp/tool.ts';
import { toolResult, withRequestTimeout } from '../../../functions/src/mcp/toolResponse.ts';
import { coordination } from '../../../functions/src/toolsets/coordination/index.ts';
import { EMPTY_DIRECTORY, LEADER, memoryPorts } from '../../support/mcp-endpoint.ts';
import { personOf } from '../../support/principals.ts';

const VIEWER: Principal = personOf('person', 'viewer');

function tool(handler: (context: CallContext<unknown>) => Promise<{ ok: boolean }>): Tool {
  return toolsFor<unknown>()({
    name: 'work',
    title: 'Work',
    description: 'Works.',
    input: z.strictObject({ secret: z.string().optional() }),
    output: z.object({ ok: z.boolean() }),
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    role: 'worker',
    example: {},
    handler,
  });
}

const EXCHANGE: RequestContext = {
  principal: LEADER,
  credential: 'c',
  workspace: 'default',
  requestId: 'r1',
  baseUrl: 'http://x/mcp',
  directory: EMPTY_DIRECTORY,
  disconnectSignal: () => new AbortController().signal,
  timeLeft: () => 50_000,
};

async function call(ports: ReturnType<typeof memoryPorts>, principal: Principal, work: Tool, args = {}) {
  const exchange = { ...EXCHANGE, principal };
  ports.principals.set(EXCHANGE.credential, principal);
  const outcome = await callTool(
    ports,
    exchange,
    { toolset: 'coordination', tool: work, scope: 'workspace' },
    { args: args },
  );
  return toolResult(coordination.errors, outcome);
}

describe('callTool', () => {
  it("returns the result, updates the agent's presence, and logs the call without its arguments", async () => {
    const ports = memoryPorts();
    const result = await call(
      ports,
      LEADER,
      tool(async () => ({ ok: true })),
      { secret: 'hush' },
    );
    assert.deepEqual(result.structuredContent, { ok: true });
    assert.deepEqual(ports.seen, ['lead']);
    const [entry] = ports.entries;
    assert.equal(entry?.event, 'call');
    const { milliseconds, ...fields } = entry?.fields ?? {};
    assert.equal(typeof milliseconds, 'number');
    assert.deepEqual(fields, {
      requestId: 'r1',
      principal: 'agent:lead',
      agentId: 'lead',
      tool: 'coordination.work',
      workspace: 'default',
      outcome: 'OK',
    });
    assert.ok(!JSON.stringify(ports.entries).includes('hush'));
    const [{ at, ...counted } = {}] = ports.counted;
    assert.ok(at instanceof Date);
    assert.deepEqual(counted, { tool: 'coordination.work', agentId: 'lead', outcome: 'OK', milliseconds });
  });

  it('logs the time that a call waits separately from its processing time', async () => {
    const ports = memoryPorts();
    const began = performance.now();
    const waiting = tool(async (context) => {
      await context.trackWait(pause(100));
      await pause(20);
      return { ok: true };
    });
    await call(ports, LEADER, waiting);
    const { milliseconds, waited } = ports.entries[0]?.fields ?? {};
    // The limits allow for a timer that fires early, and for a wait that starts before the call tracks it.
    assert.ok(Number(waited) >= 80, String(waited));
    assert.ok(Number(milliseconds) >= 19, String(milliseconds));
    assert.ok(Number(milliseconds) + Number(waited) <= performance.now() - began + 1);
    assert.equal(ports.counted[0]?.milliseconds, milliseconds);
  });

  for (const scope of ['workspace', 'owner'] as const)
    it(`returns no result if the caller loses the required role (${scope}) while the call waits`, async () => {
      const ports = memoryPorts();
      const work = tool(async (context) => {
        const lost = { ...LEADER, maxRole: scope === 'workspace' ? 'viewer' : 'worker' } as const;
        await context.trackWait(Promise.resolve().then(() => ports.principals.set('c', lost)));
        return { ok: true };
      });
      ports.principals.set('c', LEADER);
      const outcome = await callTool(ports, EXCHANGE, { toolset: 'coordination', tool: work, scope }, { args: {} });
      assert.ok('error' in outcome);
      const reason = scope === 'workspace' ? 'ROLE_TOO_WEAK' : 'RIGHTS_CHANGED';
      assert.equal(outcome.error.details.reason, reason);
    });

  it('checks the rate limits before anything else, and logs and counts a rejection', async () => {
    const ports = memoryPorts();
    const details = { reason: 'RATE_LIMITED', retryAfter: 2 };
    ports.limits.take = () => Promise.reject(new MusterError('RATE_LIMITED', 'Slower.', details));
    const result = await call(
      ports,
      VIEWER,
      tool(async () => assert.fail()),
      { wrong: 1 },
    );
    assert.match(JSON.stringify(result), /Slower/);
    const { outcome, reason, principal, agentId } = ports.entries[0]?.fields ?? {};
    assert.deepEqual(
      { outcome, reason, principal, agentId },
      { outcome: 'RATE_LIMITED', reason: 'RATE_LIMITED', principal: 'person', agentId: undefined },
    );
    assert.equal(ports.counted[0]?.outcome, 'RATE_LIMITED');
  });

  it("checks the caller's permission before it validates the arguments", async () => {
    const ports = memoryPorts();
    const result = await call(
      ports,
      VIEWER,
      tool(async () => ({ ok: true })),
      { wrong: 1 },
    );
    assert.match(result.content[0].text, /coordination\.work requires the role worker; yours is viewer/);
    assert.equal(ports.entries[0]?.fields['outcome'], 'FORBIDDEN');
    const confined = await call(
      ports,
      { ...LEADER, toolsets: ['todo'] },
      tool(async () => ({ ok: true })),
    );
    assert.match(confined.content[0].text, /does not include the toolset coordination\. It includes: todo/);
  });

  it('returns an internal error if the tool fails unexpectedly or its response is invalid', async () => {
    for (const handler of [
      async () => {
        throw new TypeError('at /srv/secret');
      },
      async () => ({ ok: 'yes' as unknown as boolean }),
    ]) {
      const ports = memoryPorts();
      const result = await call(ports, LEADER, tool(handler));
      assert.deepEqual(result.structuredContent, { error: 'Internal error. Report request id r1 to the operator.' });
      assert.equal(ports.entries.filter(({ level }) => level === 'error').length, 1);
    }
  });

  it("succeeds even if the agent's presence cannot be updated", async () => {
    const failing = memoryPorts();
    failing.presence.touch = () => Promise.reject(new Error('no database'));
    const result = await call(
      failing,
      LEADER,
      tool(async () => ({ ok: true })),
    );
    assert.equal(result.isError, undefined);
    assert.ok(failing.entries.some(({ event }) => event === 'presence_not_noted'));
  });
});

describe('callTool at its timeout', () => {
  const late = (timeLeft: number, work: Tool) =>
    callTool(
      memoryPorts(),
      { ...EXCHANGE, timeLeft: () => timeLeft },
      { toolset: 'orchestration', tool: work, scope: 'workspace' },
      { args: {} },
    );

  it('reports what the call has started so far', async () => {
    const outcome = await late(
      20,
      tool(async ({ onTimeout }) => {
        onTimeout({ about: { runId: 'run-x' }, suggestion: 'Call get_run.' });
        return new Promise(() => {});
      }),
    );
    assert.ok('error' in outcome);
    assert.deepEqual([outcome.error.code, outcome.error.details.suggestion], ['TIMEOUT', 'Call get_run.']);
    const shown = toolResult(undefined, outcome).structuredContent;
    assert.match(JSON.stringify(shown), /"runId":"run-x"/);
  });

  it('does not run the tool if the request has no time left', async () => {
    let ran = false;
    const outcome = await late(
      0,
      tool(async () => {
        ran = true;
        return { ok: true };
      }),
    );
    assert.ok('error' in outcome);
    assert.deepEqual([outcome.error.code, outcome.error.details.reason, ran], ['TIMEOUT', 'NOT_RUN', false]);
  });

  it('gives the tool the remaining time of the request', async () => {
    const left: number[] = [];
    await late(
      30_000,
      tool(async ({ timeLeft }) => {
        left.push(timeLeft());
        return { ok: true };
      }),
    );
    assert.deepEqual(left, [30_000]);
  });

  it('gives a call 50 seconds, counted from the arrival of its request', async () => {
    const timeLeft = requestTimeLeft();
    const first = timeLeft();
    await pause(20);
    assert.ok(first <= 50_000 && first > 40_000 && timeLeft() < first);
  });
});

describe('withRequestTimeout', () => {
  it('rejects with TIMEOUT if the promise is not settled in time', async () => {
    const late = withRequestTimeout(new Promise(() => {}), 10);
    await assert.rejects(late, (error) => error instanceof MusterError && error.code === 'TIMEOUT');
  });

  it('returns results and throws errors that arrive in time', async () => {
    assert.equal(await withRequestTimeout(Promise.resolve(5), 1000), 5);
    await assert.rejects(withRequestTimeout(Promise.reject(new Error('x')), 1000), /x/);
  });
});

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
