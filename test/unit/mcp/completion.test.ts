/** The MCP method `completion/complete` over HTTP, with clients of both protocol revisions. */
import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { z } from 'zod';
import { templatesFor } from '../../../functions/src/mcp/resource.ts';
import type { Toolset } from '../../../functions/src/mcp/tool.ts';
import { memoryPorts, type RunningEndpoint, serveEndpoint } from '../../support/mcp-endpoint.ts';

const uriTemplate = 'branch://{branchName}/{part}';

const toolset: Toolset = {
  name: 'coordination',
  instructions: 'Branches.',
  tools: [],
  resources: [],
  templates: [
    templatesFor<unknown>()({
      uriTemplate,
      name: 'branch',
      title: 'Branch',
      description: 'A branch.',
      mimeType: 'text/plain',
      role: 'viewer',
      variables: z.strictObject({ branchName: z.string(), part: z.string() }),
      complete: {
        branchName: async (_context, { part }) =>
          part === 'many'
            ? Array.from({ length: 150 }, (_, number) => `feature/${number}`)
            : ['main', 'feature/auth', 'feature/auth', 'feature/log'],
      },
      read: async (_context, { branchName }) => branchName,
    }),
  ],
};

interface Completing {
  complete(params: {
    ref: { type: 'ref/resource'; uri: string };
    argument: { name: string; value: string };
    context?: { arguments?: Record<string, string> };
  }): Promise<{ completion: { values: string[]; total?: number | undefined; hasMore?: boolean | undefined } }>;
  getServerCapabilities(): { completions?: unknown } | undefined;
  close(): Promise<void>;
}

const requestInit = { headers: { Authorization: 'Bearer leader-key' } };

const eras: Readonly<Record<string, (url: URL) => Promise<Completing>>> = {
  '2026-07-28': async (url) => {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
    return client;
  },
  '2025-11-25': async (url) => {
    const client = new OlderClient({ name: 'test', version: '1' });
    // The types of the older client contradict each other under exactOptionalPropertyTypes.
    await client.connect(new OlderTransport(url, { requestInit }) as Parameters<OlderClient['connect']>[0]);
    return client;
  },
};

for (const [era, connect] of Object.entries(eras))
  describe(`completion in ${era}`, () => {
    let endpoint: RunningEndpoint;
    let client: Completing;
    before(async () => {
      endpoint = await serveEndpoint({ ...memoryPorts(), toolsets: [toolset] });
      client = await connect(new URL(`${endpoint.url}/mcp`));
    });
    after(async () => {
      await client?.close();
      await endpoint?.close();
    });

    const ref = { type: 'ref/resource', uri: uriTemplate } as const;
    const complete = async (value: string, chosen: Record<string, string> = {}) => {
      const argument = { name: 'branchName', value };
      return (await client.complete({ ref, argument, context: { arguments: chosen } })).completion;
    };

    it('is announced as a capability of the server', () =>
      assert.deepEqual(client.getServerCapabilities()?.completions, {}));

    it('returns each value that starts with the typed text once', async () => {
      assert.deepEqual(await complete('feature/'), {
        values: ['feature/auth', 'feature/log'],
        total: 2,
        hasMore: false,
      });
      assert.deepEqual((await complete('x')).values, []);
    });

    it('receives the values of the other variables, and returns at most 100 values', async () => {
      const { values, total, hasMore } = await complete('', { part: 'many' });
      assert.deepEqual([values.length, total, hasMore], [100, 150, true]);
    });

    it('returns nothing for a variable without values, and rejects the name of an unknown variable', async () => {
      const argument = { name: 'part', value: '' };
      assert.deepEqual((await client.complete({ ref, argument })).completion.values, []);
      await assert.rejects(() => client.complete({ ref, argument: { name: 'other', value: '' } }), /no variable other/);
      const unknown = { type: 'ref/resource', uri: 'branch://{x}' } as const;
      await assert.rejects(() => client.complete({ ref: unknown, argument }), /Unknown resource template/);
    });
  });
