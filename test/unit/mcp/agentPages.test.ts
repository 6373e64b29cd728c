/** Pages that registerAgent returns as endpoints. A GET request to such a page calls one tool. */
import assert from 'node:assert/strict';
import { z } from 'zod';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import { type Toolset, toolsFor } from '../../../functions/src/mcp/tool.ts';
import { LEADER, memoryPorts, type RunningEndpoint, serveEndpoint } from '../../support/mcp-endpoint.ts';
import { personOf } from '../../support/principals.ts';

/** Returns a toolset whose tools return the arguments that they receive. */
function echoing(toolset: string, names: readonly string[]): Toolset {
  const tools = names.map((name) =>
    toolsFor<unknown>()({
      name,
      title: name,
      description: 'Answers what it was given.',
      input: z.looseObject({}),
      output: z.looseObject({}),
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      role: 'viewer',
      example: {},
      handler: async ({ principal, workspace }, given) => {
        if (principal.uid === 'unlucky') throw new MusterError('NOT_FOUND', 'There is no such thing.');
        return { tool: `${toolset}.${name}`, given, workspace };
      },
    }),
  );
  return { name: toolset, instructions: '', tools, resources: [] };
}

describe('endpoint pages of an agent', () => {
  const ports = memoryPorts();
  let endpoint: RunningEndpoint;

  before(async () => {
    ports.principals.set('person', personOf('ada', 'viewer'));
    ports.principals.set('unlucky', { ...LEADER, uid: 'unlucky' });
    ports.principals.set('confined', { ...LEADER, toolsets: ['system'] });
    const toolsets = [echoing('firebase', ['read']), echoing('system', ['getTaskQueue', 'getSystemStatus'])];
    endpoint = await serveEndpoint({ ...ports, toolsets });
  });
  after(() => endpoint.close());

  const get = (page: string, key = 'leader-key', method = 'GET') =>
    fetch(`${endpoint.url}/mcp/agent/${page}`, { method, headers: { Authorization: `Bearer ${key}` } });

  it("respond to a GET request with the tool's response for the caller", async () => {
    const messages = (id: string) => ({ database: 'realtime', path: `messages/agents/${id}`, query: { limit: 100 } });
    for (const [page, key, tool, given] of [
      ['messages', 'leader-key', 'firebase.read', messages('lead')],
      ['messages', 'person', 'firebase.read', messages('ada')],
      ['tasks', 'leader-key', 'system.getTaskQueue', { agentId: 'lead' }],
      ['tasks', 'person', 'system.getTaskQueue', {}],
      ['status?workspace=alpha', 'leader-key', 'system.getSystemStatus', {}],
    ] as const) {
      const response = await get(page, key);
      assert.equal(response.status, 200, page);
      assert.match(response.headers.get('content-type') ?? '', /application\/json/);
      const workspace = page.includes('?') ? 'alpha' : 'default';
      assert.deepEqual(await response.json(), { tool, given, workspace });
    }
    assert.ok(
      ports.counted.some(({ tool }) => tool === 'system.getTaskQueue'),
      'pages are counted as calls',
    );
  });

  it('report the errors of the tool as HTTP status codes', async () => {
    assert.equal((await get('tasks', 'nobody')).status, 401);
    assert.equal((await get('tasks', 'unlucky')).status, 404);
    assert.equal((await get('messages', 'confined')).status, 403);
    const posted = await get('tasks', 'leader-key', 'POST');
    assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET']);
    for (const page of ['', 'nothing', 'tasks/more', 'tasks/readonly'])
      assert.equal((await get(page)).status, 404, page);
  });

  it('are listed among the known paths if the toolset of their tool is served', async () => {
    const { endpoints } = z.object({ endpoints: z.array(z.string()) }).parse(await (await get('nothing')).json());
    const found = endpoints.filter((path) => path.includes('/agent/'));
    assert.deepEqual(found, ['/mcp/agent/messages', '/mcp/agent/tasks', '/mcp/agent/status']);
  });
});
