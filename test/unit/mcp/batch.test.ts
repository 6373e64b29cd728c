/** Limits of JSON-RPC batches, whose messages run one at a time. */
import assert from 'node:assert/strict';
import { z } from 'zod';
import { type BatchResponse, MAX_BATCH_BYTES, respondSequentially } from '../../../functions/src/mcp/protocol/batch.ts';
import { type Toolset, toolsFor } from '../../../functions/src/mcp/tool.ts';
import { JSON_BY_LEADER, memoryPorts, serveEndpoint } from '../../support/mcp-endpoint.ts';

interface Reply {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data: { readonly reason: string } };
}

/** Returns a toolset whose tool returns the requested number of letters, and a count of the calls of that tool. */
function letters() {
  const seen = { runs: 0, now: 0, highest: 0 };
  const tool = toolsFor<unknown>()({
    name: 'letters',
    title: 'Letters',
    description: 'Answers letters.',
    input: z.strictObject({ count: z.int() }),
    output: z.object({ text: z.string() }),
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    role: 'viewer',
    example: { count: 1 },
    returnsWhole: true,
    handler: async (_, { count }) => {
      seen.runs += 1;
      seen.now += 1;
      seen.highest = Math.max(seen.highest, seen.now);
      await new Promise((resolve) => setImmediate(resolve));
      seen.now -= 1;
      return { text: 'x'.repeat(count) };
    },
  });
  const toolset: Toolset = { name: 'system', instructions: 'Letters.', tools: [tool], resources: [] };
  return { toolset, seen };
}

const PROTOCOLS = [
  ['/mcp/rpc', 900_000, (id: number, count: number) => ({ id, method: 'system.letters', params: { count } })],
  [
    '/mcp',
    450_000,
    (id: number, count: number) => ({
      id,
      method: 'tools/call',
      params: { name: 'system_letters', arguments: { count } },
    }),
  ],
] as const;

for (const [path, large, message] of PROTOCOLS)
  describe(`JSON-RPC batch at ${path}`, () => {
    async function send(count: number, unnoticed = false) {
      const { toolset, seen } = letters();
      const ports = memoryPorts();
      let taken = 0;
      const limits = {
        take: async () => {
          taken += 1;
        },
      };
      const endpoint = await serveEndpoint({ ...ports, limits, toolsets: [toolset] });
      const batch = Array.from({ length: 50 }, (_, id) => {
        const { id: _id, ...silent } = message(id, count);
        return { jsonrpc: '2.0', ...silent, ...(unnoticed ? {} : { id }) };
      });
      try {
        const response = await fetch(endpoint.url + path, {
          method: 'POST',
          headers: JSON_BY_LEADER,
          body: JSON.stringify(batch),
        });
        const text = await response.text();
        const replies = text === '' ? [] : (JSON.parse(text) as Reply[]);
        return { replies, bytes: text.length, seen, taken };
      } finally {
        await endpoint.close();
      }
    }

    it('runs its calls one at a time, and each call counts against the limits of single calls', async () => {
      const { replies, seen, taken } = await send(1);
      const rows = replies.map(({ id, result }) => [id, result !== undefined]);
      const expected = replies.map((_, id) => [id, true]);
      assert.deepEqual(rows, expected);
      assert.deepEqual(
        { ...seen, taken, replies: replies.length },
        { runs: 50, now: 0, highest: 1, taken: 50, replies: 50 },
      );
    });

    it('stops when its responses are too large together, and reports each call that did not run', async () => {
      const { replies, bytes, seen } = await send(large);
      assert.ok(bytes <= MAX_BATCH_BYTES, `${bytes} bytes`);
      assert.ok(seen.runs >= 3 && seen.runs <= 4, `${seen.runs} runs`);
      assert.equal(replies.length, 50);
      for (const { id, result, error } of replies) {
        assert.equal(result !== undefined, id < seen.runs);
        if (error === undefined) continue;
        assert.match(error.message, /^This message was skipped, because the responses to earlier messages of the/);
        assert.deepEqual([error.code, error.data.reason], [-32401, 'BATCH_TOO_LARGE']);
      }
    });
  });

describe('batch of notifications', () => {
  it('is limited by the size that its responses would have had', async () => {
    let runs = 0;
    const reported = await respondSequentially(
      Array.from({ length: 50 }, (_, id) => id),
      {
        respond: async () => {
          runs += 1;
          return { json: 'x'.repeat(1_000_000), silent: true };
        },
        reject: () => ({ json: '', silent: true }),
      },
    );
    assert.equal(reported, undefined);
    assert.ok(runs < 5);
  });
});

describe('JSON-RPC batch that reaches its timeout', () => {
  it('reports the message that was running and the messages that did not run', async () => {
    const never = new Promise<BatchResponse>(() => undefined);
    const run: number[] = [];
    const reported = await respondSequentially(
      [0, 1, 2, 3],
      {
        respond: async (id) => {
          run.push(id);
          return id === 1 ? never : { json: String(id), silent: false };
        },
        reject: (id, { message }) => ({ json: JSON.stringify([id, message]), silent: false }),
      },
      500,
    );
    const [first, second, ...others] = JSON.parse(reported ?? '') as [number, [number, string], ...[number, string][]];
    assert.deepEqual([first, second[0], run], [0, 1, [0, 1]]);
    assert.match(second[1], /^No response within [01](?:\.\d+)? seconds\.$/);
    assert.equal(others.length, 2);
    for (const [, message] of others)
      assert.match(message, /^This message was skipped, because earlier messages of the batch/);
  });
});
