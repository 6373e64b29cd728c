import assert from 'node:assert/strict';
import fc from 'fast-check';
import { z } from 'zod';
import {
  byteLength,
  fitsPage,
  fittingItems,
  MAX_RESPONSE_BYTES,
  MAX_SHOWN_BYTES,
  sentBytes,
} from '../../../functions/src/kernel/json.ts';
import type { Resource } from '../../../functions/src/mcp/resource.ts';
import { type Toolset, toolsFor } from '../../../functions/src/mcp/tool.ts';
import { textWithinSizeLimit, withinSizeLimit } from '../../../functions/src/mcp/toolResponse.ts';
import { JSON_BY_LEADER, memoryPorts, serveEndpoint } from '../../support/mcp-endpoint.ts';
import { inRuns } from '../../support/properties.ts';
import { thrownRefusal } from '../../support/refusal.ts';

const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
const reads = { annotations };
const readsWhole = { annotations, returnsWhole: true } as const;
const writes = { annotations: { ...annotations, readOnlyHint: false } };
const NASTY = ['x', '"', '\\', '\n', '\u0001', 'é', '見', '😀'] as const;

describe('response that exceeds the maximum size', () => {
  for (const letter of NASTY)
    it(`has its long texts truncated and marked as truncated: ${JSON.stringify(letter)}`, () => {
      const answer = {
        id: 'task-1',
        next_cursor: 'c'.repeat(20_000),
        tasks: [{ output: letter.repeat(900_000) }, { output: letter.repeat(400) }],
      };
      for (const [tool, bytesOf] of [
        [reads, sentBytes],
        [reads, Buffer.byteLength],
        [readsWhole, sentBytes],
        [readsWhole, Buffer.byteLength],
      ] as const) {
        const cut = withinSizeLimit(tool, answer, bytesOf);
        assert.ok(bytesOf(JSON.stringify(cut)) <= MAX_RESPONSE_BYTES);
        assert.ok(tool === readsWhole || byteLength(cut) <= MAX_SHOWN_BYTES);
        const { tasks, ...rest } = cut;
        assert.deepEqual(rest, { id: 'task-1', next_cursor: answer.next_cursor });
        const [long, short] = z.array(z.object({ output: z.string() })).parse(tasks);
        assert.equal(short?.output, answer.tasks[1]?.output);
        const lines = /… \((\d+) more characters omitted: read this item separately to get all of it\)$/.exec(
          long?.output ?? '',
        );
        if (long?.output === answer.tasks[0]?.output) continue;
        assert.ok(lines, long?.output.slice(-100));
        assert.doesNotMatch(long?.output ?? '', /\p{Cs}/u);
      }
    });

  it("is replaced by an error with the tool's suggestion if no text may be truncated", () => {
    const tool = { ...readsWhole, ifTooLarge: 'Name a deeper path.' };
    const { code, message, details } = thrownRefusal(() =>
      withinSizeLimit(tool, { data: 'x'.repeat(600_000) }, sentBytes),
    );
    assert.equal(code, 'VALIDATION_ERROR');
    assert.match(message, /^The response would be 12\d{5} bytes; the limit is 1048576\.$/);
    assert.deepEqual(details, { reason: 'SIZE_LIMIT_EXCEEDED', suggestion: 'Name a deeper path.' });
    assert.doesNotThrow(() => withinSizeLimit(tool, { data: 'x'.repeat(600_000) }, Buffer.byteLength));
  });

  it('is replaced by an error if it has too many items; after a write, the error reports success', () => {
    const answer = { numbers: Array.from({ length: 300_000 }, (_, at) => at) };
    assert.equal(
      thrownRefusal(() => withinSizeLimit(reads, answer, sentBytes)).details.suggestion,
      'Request less data per call.',
    );
    assert.match(thrownRefusal(() => withinSizeLimit(writes, answer, sentBytes)).message, /^The call succeeded, but/);
  });

  it('remains unchanged if its size is within the limit', () => {
    const whole = { text: 'x'.repeat(500_000) };
    assert.equal(withinSizeLimit(readsWhole, whole, sentBytes), whole);
    const shown = { text: 'x'.repeat(40_000) };
    assert.equal(withinSizeLimit(reads, shown, sentBytes), shown);
  });

  it('is returned if it exceeds only the limit for texts that models read', () => {
    const answer = { numbers: Array.from({ length: 20_000 }, (_, at) => at) };
    assert.equal(withinSizeLimit(reads, answer, sentBytes), answer);
  });
});

describe('resource that exceeds the maximum size', () => {
  for (const letter of NASTY)
    it(`keeps its type and the beginning of its text: ${JSON.stringify(letter)}`, () => {
      const json = textWithinSizeLimit(
        { mimeType: 'application/json' },
        JSON.stringify({ text: letter.repeat(1_100_000) }),
      );
      const plain = textWithinSizeLimit({ mimeType: 'text/plain' }, letter.repeat(1_100_000));
      for (const text of [json, plain]) assert.ok(Buffer.byteLength(text) <= MAX_SHOWN_BYTES);
      const whole = textWithinSizeLimit({ mimeType: 'text/plain', returnsWhole: true }, letter.repeat(150_000));
      assert.equal(whole, letter.repeat(150_000));
      const { truncated, message, beginning } = JSON.parse(json) as Record<string, unknown>;
      assert.equal(truncated, true);
      assert.match(String(message), /^This resource has \d+ bytes, too many for one response\./);
      assert.ok(JSON.stringify({ text: letter.repeat(1_100_000) }).startsWith(String(beginning)));
      assert.match(
        plain,
        /Only its beginning is shown\. The tools of the same toolset return the rest in parts\.\)\n$/,
      );
    });
});

describe('fittingItems', () => {
  it('returns the first items that fit one response, and at least one item', () => {
    const item = fc.tuple(fc.constantFrom(...NASTY), fc.integer({ min: 0, max: 20_000 }));
    inRuns(30).forAll(fc.array(item, { maxLength: 12 }), (items) => {
      const shown = ([letter, count]: (typeof items)[number]) => ({ text: letter.repeat(count) });
      const given = fittingItems(items, shown);
      assert.deepEqual(given, items.slice(0, given.length));
      assert.ok(given.length > 0 || items.length === 0);
      if (given.length > 1) assert.ok(fitsPage(given.map(shown)));
      const next = items[given.length];
      if (next !== undefined) assert.ok(!fitsPage([...given, next].map(shown)));
    });
  });
});

describe('response of the endpoint', () => {
  const long = toolsFor<unknown>()({
    name: 'long',
    title: 'Long',
    description: 'Answers a long text.',
    input: z.strictObject({ letter: z.string(), count: z.int() }),
    output: z.object({ text: z.string() }),
    annotations,
    role: 'viewer',
    example: { letter: 'x', count: 1 },
    handler: async (_, { letter, count }) => ({ text: letter.repeat(count) }),
    returnsWhole: true,
  });
  const book: Resource = {
    uri: 'system://book',
    name: 'book',
    title: 'Book',
    description: 'A long text.',
    mimeType: 'text/plain',
    role: 'viewer',
    read: async () => 'A line.\n'.repeat(300_000),
  };
  const toolset: Toolset = { name: 'system', instructions: 'Long.', tools: [long], resources: [book] };

  it('has at most 1 MiB for a tool call or a resource, at /mcp and at /mcp/rpc', async () => {
    const endpoint = await serveEndpoint({ ...memoryPorts(), toolsets: [toolset] });
    const send = async (path: string, method: string, params: object) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 'x'.repeat(200), method, params });
      const response = await fetch(endpoint.url + path, { method: 'POST', headers: JSON_BY_LEADER, body });
      const bytes = Buffer.from(await response.arrayBuffer());
      assert.ok(bytes.length <= MAX_RESPONSE_BYTES, `${path} ${bytes.length}`);
      assert.ok(bytes.length > MAX_SHOWN_BYTES / 2);
      assert.ok('result' in (JSON.parse(bytes.toString()) as object));
    };
    try {
      for (const letter of ['"', '\u0001', '見']) {
        const args = { letter, count: 1_500_000 };
        await send('/mcp', 'tools/call', { name: 'system_long', arguments: args });
        await send('/mcp/rpc', 'system.long', args);
      }
      await send('/mcp', 'resources/read', { uri: 'system://book' });
    } finally {
      await endpoint.close();
    }
  });
});
