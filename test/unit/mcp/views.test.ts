/** Views of tools, and the callers that may read them. Source: the MCP extension "MCP Apps", 2026-01-26. */
import assert from 'node:assert/strict';
import { z } from 'zod';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import { wireName } from '../../../functions/src/mcp/names.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';
import { LEADER, memoryPorts, type RunningEndpoint, serveEndpoint } from '../../support/mcp-endpoint.ts';
import { personOf } from '../../support/principals.ts';

const VIEWS = [
  { toolset: 'coordination', tool: 'get_status', uri: 'ui://muster/goal' },
  { toolset: 'todo', tool: 'list_tasks', uri: 'ui://muster/todos' },
  { toolset: 'orchestration', tool: 'get_run', uri: 'ui://muster/run' },
  { toolset: 'coding', tool: 'report_task', uri: 'ui://muster/coding' },
];

const content = z.object({ uri: z.string(), mimeType: z.string(), text: z.string(), _meta: z.unknown() });
const answered = z.object({ result: z.unknown().optional(), error: z.object({ message: z.string() }).optional() });

const listed = z.object({
  tools: z.array(
    z.object({
      name: z.string(),
      _meta: z.object({ ui: z.object({ resourceUri: z.string() }).optional() }).optional(),
    }),
  ),
});

const EVERY_PATH = ['/mcp', '/mcp/readonly', '/mcp?toolsets=all', '/mcp?readonly=1'];

/** Returns the paths at which the tools of a toolset are listed. */
const pathsOf = (toolset: string) => [
  ...EVERY_PATH,
  `/mcp/${toolset}`,
  `/mcp/${toolset}/readonly`,
  `/mcp?toolsets=${toolset}`,
  `/mcp?toolsets=${toolset}&readonly=1`,
];

describe('views of tools', () => {
  const ports = memoryPorts();
  let endpoint: RunningEndpoint;

  before(async () => {
    const others: Readonly<Record<string, Principal>> = {
      reader: { ...LEADER, readonly: true },
      confined: { ...LEADER, toolsets: ['todo'] },
      roleless: personOf('nobody', undefined),
    };
    for (const [name, principal] of Object.entries(others)) ports.principals.set(name, principal);
    endpoint = await serveEndpoint({ ...ports, toolsets });
  });
  after(() => endpoint.close());

  async function ask(path: string, method: string, params: object = {}, credential = 'leader-key') {
    const response = await fetch(endpoint.url + path, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${credential}`,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    return answered.parse(await response.json());
  }

  async function read(path: string, uri: string, credential?: string) {
    const { result, error } = await ask(path, 'resources/read', { uri }, credential);
    assert.equal(error, undefined, `${path} ${uri}: ${error?.message}`);
    return z.object({ contents: z.tuple([content]) }).parse(result).contents[0];
  }

  it('are named by four tools, at every path that lists these tools', async () => {
    for (const path of EVERY_PATH) {
      const { tools } = listed.parse((await ask(path, 'tools/list')).result);
      const named = tools.flatMap(({ name, _meta }) => (_meta?.ui ? [[name, _meta.ui.resourceUri]] : []));
      const expected = VIEWS.map(({ toolset, tool, uri }) => [wireName(toolset, tool, 'prefixed'), uri]);
      assert.deepEqual(named.sort(), expected.sort(), path);
    }
    for (const { toolset, tool, uri } of VIEWS) {
      const { tools } = listed.parse((await ask(`/mcp/${toolset}`, 'tools/list')).result);
      const named = tools.flatMap(({ name, _meta }) => (_meta?.ui ? [{ name, ui: _meta.ui }] : []));
      assert.deepEqual(named, [{ name: tool, ui: { resourceUri: uri } }]);
    }
  });

  for (const { toolset, uri } of VIEWS)
    it(`include ${uri} at every path that lists the tool of that view`, async () => {
      for (const path of pathsOf(toolset))
        assert.deepEqual(await read(path, uri), {
          uri,
          mimeType: 'text/html;profile=mcp-app',
          text: `<!doctype html><title>${uri.slice('ui://muster/'.length)}</title>`,
          _meta: { ui: { csp: {}, prefersBorder: true } },
        });
    });

  it('can be read by every caller whose tool list includes the tool', async () => {
    for (const credential of ['reader', 'roleless'])
      for (const { uri } of VIEWS) await read('/mcp?toolsets=all', uri, credential);
    await read('/mcp', 'ui://muster/todos', 'confined');
    const { error } = await ask('/mcp', 'resources/read', { uri: 'ui://muster/goal' }, 'confined');
    assert.match(error?.message ?? '', /does not include the toolset coordination/);
  });

  it('cannot be read at a path without their tool, or under another name', async () => {
    for (const [path, uri] of [
      ['/mcp/todo', 'ui://muster/goal'],
      ['/mcp/github', 'ui://muster/todos'],
      ['/mcp', 'ui://muster/passwords'],
      ['/mcp', 'ui://muster/'],
    ] as const) {
      const { error } = await ask(path, 'resources/read', { uri });
      assert.ok(error, `${path} ${uri}`);
    }
  });

  it('are announced only at paths that have views, and are not listed as resources', async () => {
    const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } };
    const greeting = z.object({ capabilities: z.looseObject({ extensions: z.unknown().optional() }) });
    const announced = async (path: string) =>
      greeting.parse((await ask(path, 'initialize', hello)).result).capabilities.extensions;
    assert.deepEqual(await announced('/mcp/todo'), { 'io.modelcontextprotocol/ui': {} });
    assert.equal(await announced('/mcp/github'), undefined);
    assert.deepEqual((await ask('/mcp/todo', 'resources/list')).result, { resources: [] });
    const all = JSON.stringify((await ask('/mcp', 'resources/list')).result);
    assert.doesNotMatch(all, /ui:\/\//);
  });
});
