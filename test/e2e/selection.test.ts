/** URLs and headers that select toolsets, read-only tools and workspaces. */
import assert from 'node:assert/strict';
import { type Connection, connectAt, isRecord } from './support/clients.ts';
import { endpointUrl, newWorkspace, tokenOf } from './support/endpoint.ts';
import { request } from './support/http.ts';

const READERS = 'get_status get_all_tasks get_results get_discoveries get_master_plan'.split(' ');
const WRITERS = (
  'init_coordination create_task create_tasks_batch register_agent claim_task start_task complete_task fail_task ' +
  'cancel_task retry_task release_task update_task message_agent reopen heartbeat add_discovery'
).split(' ');

describe('the MCP endpoint', () => {
  const open: Connection[] = [];
  let token: string;

  before(async () => {
    token = await tokenOf('leader');
  });
  after(() => Promise.all(open.map((connection) => connection.close())));

  async function opened(path: string, query: Readonly<Record<string, string>> = {}): Promise<Connection> {
    const connection = await connectAt('client 2026-07-28', endpointUrl(path, query), token);
    open.push(connection);
    return connection;
  }

  async function names(path: string, query: Readonly<Record<string, string>> = {}): Promise<readonly string[]> {
    return (await (await opened(path, query)).listTools()).map((tool) => tool.name);
  }

  it('lists tools at the path of one toolset by their names in the specification', async () => {
    assert.deepEqual([...(await names('/coordination'))].sort(), [...READERS, ...WRITERS].sort());
    assert.ok((await names('/onboarding')).includes('onboarding_registerAgent'));
  });

  it('lists tools at /mcp by their names with the toolset as prefix', async () => {
    const all = await names('');
    for (const name of ['coordination_claim_task', 'onboarding_registerAgent']) assert.ok(all.includes(name), name);
    const named = await names('', { toolsets: 'coordination,onboarding' });
    for (const name of [...READERS, ...WRITERS]) assert.ok(named.includes(`coordination_${name}`), name);
  });

  it('lists at /mcp/worker only the tools that a worker needs, and accepts calls to all others', async () => {
    const listed = await names('/worker');
    assert.ok(listed.includes('coordination_claim_task') && !listed.includes('coordination_get_status'));
    const client = await opened('/worker', { workspace: newWorkspace('worker') });
    assert.equal((await client.call('coordination_get_status')).structured['total_tasks'], 0);
  });

  it('lists only tools of firebase, github, onboarding and system at /mcp/network', async () => {
    const network = await names('/network');
    assert.ok(network.includes('onboarding_registerAgent'));
    assert.ok(network.every((name) => /^(firebase|github|onboarding|system)_/.test(name)));
  });

  it('accepts bare, prefixed and dotted tool names at the path of a toolset', async () => {
    const client = await opened('/coordination', { workspace: newWorkspace('names') });
    for (const name of ['get_status', 'coordination_get_status', 'coordination.get_status']) {
      assert.equal((await client.call(name)).isError, false, name);
    }
    await assert.rejects(client.call('onboarding_registerAgent'), /Unknown tool/);
  });

  it('omits rarely used tools from the list at /mcp, but accepts calls to them', async () => {
    const [light, whole] = [await names(''), await names('', { toolsets: 'all' })];
    for (const name of ['coding_claim_task', 'coding_append_logs', 'orchestration_execute_code']) {
      assert.ok(!light.includes(name) && whole.includes(name), name);
    }
    assert.ok((await names('/coding')).includes('claim_task'));
    const client = await opened('');
    const { structured } = await client.call('coding_get_task_logs', { taskId: 'task-none' });
    assert.match(JSON.stringify(structured), /task-none/);
  });

  it("lists at /mcp only tools that the caller's role may call, unless all tools are requested", async () => {
    const shownToWorker = async (query: Readonly<Record<string, string>>) =>
      listedIn((await request(endpointUrl('', query), await tokenOf('worker1'), 'tools/list')).json);
    const names = await shownToWorker({});
    assert.ok(names.includes('coordination_claim_task') && !names.includes('coordination_init_coordination'));
    assert.ok((await shownToWorker({ toolsets: 'all' })).includes('coordination_init_coordination'));
  });

  it('lists only tools of the toolsets in the query parameter "toolsets"', async () => {
    const onboarding = await names('', { toolsets: 'onboarding' });
    assert.ok(onboarding.length > 0 && onboarding.every((name) => name.startsWith('onboarding_')));
    const both = await names('', { toolsets: 'onboarding, coordination' });
    assert.equal(both.length, onboarding.length + READERS.length + WRITERS.length);
  });

  it('lists only tools of the toolsets in the header X-MCP-Toolsets', async () => {
    const answer = await request(endpointUrl(), token, 'tools/list', { headers: { 'X-MCP-Toolsets': 'onboarding' } });
    const names = listedIn(answer.json);
    assert.ok(names.length > 0 && names.every((name) => name.startsWith('onboarding_')), answer.text);
  });

  it('rejects an unknown toolset with an error that lists the existing toolsets', async () => {
    const answer = await request(endpointUrl('', { toolsets: 'nonsense' }), token, 'tools/list');
    assert.equal(answer.status, 400);
    assert.match(answer.text, /Unknown toolset \\"nonsense\\".*coordination/);
  });

  it('lists no tools that write if the URL or a header requests read-only tools', async () => {
    assert.deepEqual([...(await names('/coordination/readonly'))].sort(), [...READERS].sort());
    assert.deepEqual([...(await names('/coordination', { readonly: '1' }))].sort(), [...READERS].sort());
    const all = await names('/readonly');
    assert.deepEqual(
      all.filter((name) => WRITERS.includes(name.replace('coordination_', ''))),
      [],
    );
    const byHeader = await request(endpointUrl('/coordination'), token, 'tools/list', {
      headers: { 'X-MCP-Readonly': '1' },
    });
    assert.deepEqual([...listedIn(byHeader.json)].sort(), [...READERS].sort());
  });

  it('rejects calls to tools that write at a read-only URL', async () => {
    const client = await opened('/coordination/readonly', { workspace: newWorkspace('readonly') });
    await assert.rejects(client.call('create_task', { description: 'No' }), /Unknown tool: create_task/);
    assert.equal((await client.call('get_status')).structured['total_tasks'], 0);
  });

  it('keeps the goal and the tasks of a workspace separate from other workspaces', async () => {
    const [one, other] = [newWorkspace('one'), newWorkspace('other')];
    const first = await opened('/coordination', { workspace: one });
    const second = await opened('/coordination', { workspace: other });
    await first.call('init_coordination', { goal: 'One' });
    await first.call('create_task', { description: 'Only here' });
    assert.equal((await first.call('get_status')).structured['total_tasks'], 1);
    assert.equal((await second.call('get_status')).structured['total_tasks'], 0);
    assert.equal((await second.call('get_master_plan')).isError, true);
  });

  it('rejects an invalid workspace name in the URL', async () => {
    for (const workspace of ['../etc', 'a/b', '', ' ', '__proto__', 'x'.repeat(65)]) {
      const answer = await request(endpointUrl('', { workspace }), token, 'tools/list');
      assert.equal(answer.status, 400, workspace);
    }
  });

  it('lists only the resources of the selected toolsets', async () => {
    const withResources = await opened('/coordination');
    assert.equal((await withResources.listResources()).length, 4);
    const answer = await request(endpointUrl('/onboarding'), token, 'resources/list');
    assert.ok(isRecord(answer.json) && isRecord(answer.json['error']), answer.text);
  });
});

function listedIn(message: unknown): readonly string[] {
  if (!isRecord(message) || !isRecord(message['result'])) return [];
  const { tools } = message['result'];
  return Array.isArray(tools) ? tools.map((tool: unknown) => (isRecord(tool) ? String(tool['name']) : '')) : [];
}
