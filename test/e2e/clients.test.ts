/** Real MCP clients call the running endpoint: one client per protocol revision, and one of an old SDK. */
import assert from 'node:assert/strict';
import { Ajv } from 'ajv';
import { type Answer, type Connection, connect, connectAt, ERAS, isRecord } from './support/clients.ts';
import { endpointUrl, newAgentName, newWorkspace, tokenOf } from './support/endpoint.ts';

const REVISIONS = {
  'client 2026-07-28': '2026-07-28',
  'client 2025-11-25': '2025-11-25',
  'sdk 1.x': '2025-11-25',
} as const;

const RESOURCES = [
  'coordination://status',
  'coordination://tasks',
  'coordination://discoveries',
  'coordination://master-plan',
];

for (const era of ERAS)
  describe(`the MCP client "${era}"`, () => {
    let leader: Connection;

    before(async () => {
      leader = await connect(era, endpointUrl('', { workspace: newWorkspace('era') }), await tokenOf('leader'));
    });
    after(() => leader?.close());

    it("negotiates its protocol revision, and gets the server's name and instructions", () => {
      assert.equal(leader.revision, REVISIONS[era]);
      assert.equal(leader.server?.name, 'muster');
      assert.match(leader.server?.version ?? '', /^\d+\.\d+\.\d+/);
      assert.match(leader.instructions ?? '', /coordination: .*claim_task/);
      assert.ok((leader.instructions ?? '').length < 2000);
    });

    it('lists tools, all with a short name, valid JSON Schemas, a description and every hint', async () => {
      const tools = await leader.listTools();
      const ajv = new Ajv({ strict: false, validateFormats: false });
      for (const tool of tools) {
        assert.match(tool.name, /^[A-Za-z0-9_]{1,50}$/);
        assert.ok(tool.description, `${tool.name} has no description`);
        assert.equal(tool.inputSchema['type'], 'object');
        assert.equal(tool.outputSchema?.['type'], 'object');
        ajv.compile(tool.inputSchema);
        const takes = ajv.compile(tool.outputSchema ?? {});
        if (tool.name.startsWith('coordination_')) assert.ok(takes({ error: 'Refused' }), tool.name);
        const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];
        for (const hint of hints) assert.equal(typeof tool.annotations?.[hint], 'boolean', `${tool.name} ${hint}`);
      }
      assert.equal(new Set(tools.map((tool) => tool.name)).size, tools.length);
    });

    it('lists fewer tools at /mcp than if it requests all, and can call a listed tool', async () => {
      const url = endpointUrl('', { workspace: newWorkspace('light') });
      const light = await connectAt(era, url, await tokenOf('leader'));
      const [some, all] = [await light.listTools(), await leader.listTools()];
      assert.ok(some.length < all.length);
      for (const { name, inputSchema, outputSchema } of some) {
        assert.equal(outputSchema, undefined, name);
        new Ajv({ strict: false, validateFormats: false }).compile(inputSchema);
      }
      const { isError, structured } = await light.call('coordination_get_status');
      assert.deepEqual([isError, structured['total_tasks']], [false, 0]);
      await light.close();
    });

    it('can call every coordination tool and onboarding_registerAgent', async () => {
      const called = await workThroughEveryTool(leader);
      const listed = (await leader.listTools()).map((tool) => tool.name);
      const expected = listed.filter((name) => /^(coordination_|onboarding_registerAgent)/.test(name));
      assert.equal(expected.length, 22);
      assert.deepEqual([...called].sort(), [...expected].sort());
    });

    it('lists and reads the four coordination resources', async () => {
      const listed = await leader.listResources();
      const uris = listed.map((resource) => resource.uri).filter((uri) => uri.startsWith('coordination://'));
      assert.deepEqual(uris, RESOURCES);
      for (const uri of RESOURCES) assert.ok(isRecord(JSON.parse(await leader.read(uri))), uri);
      const status: unknown = JSON.parse(await leader.read('coordination://status'));
      assert.ok(isRecord(status) && status['goal'] === 'Try every tool');
    });

    it('can call a tool by the dotted name that the specifications use', async () => {
      const { isError, structured } = await leader.call('coordination.get_status');
      assert.equal(isError, false);
      assert.equal(structured['goal'], 'Try every tool');
    });

    it('gets the complete error of a coordination tool, as structured content and as text', async () => {
      const answer = await leader.call('coordination_start_task', { agent_id: 'leader', task_id: 'task-none' });
      assert.equal(answer.isError, true);
      assert.deepEqual(Object.keys(answer.structured), ['error']);
      assert.match(String(answer.structured['error']), /Task "task-none" not found\. coordination_get_all_tasks lists/);
      assert.deepEqual(JSON.parse(answer.text), answer.structured);
    });

    it('gets the error of an onboarding tool with the fields success, code and data', async () => {
      const { isError, structured, text } = await leader.call('onboarding_registerAgent', {
        agentInfo: {},
        capabilities: [],
      });
      assert.equal(isError, true);
      const envelope: unknown = JSON.parse(text);
      // SDK 1.x validates the structured content of errors too. It would reject errors, because they lack fields that
      // the output schema requires. So clients of the 2025 revisions get this error only as text.
      assert.deepEqual(structured, era === 'client 2026-07-28' ? envelope : {});
      assert.ok(isRecord(envelope));
      assert.equal(envelope['success'], false);
      const { error } = envelope;
      assert.ok(isRecord(error) && isRecord(error['data']));
      assert.equal(error['code'], -32301);
      assert.match(String(error['data']['field']), /^agentInfo\./);
    });

    it('gets an error if it calls an unknown tool', () =>
      assert.rejects(leader.call('coordination_no_such_tool'), /Unknown tool: coordination_no_such_tool/));

    it('gets an error if it reads an unknown resource', () =>
      assert.rejects(leader.read('coordination://no-such'), /coordination:\/\/no-such|not found/i));
  });

/** Calls every coordination tool and onboarding_registerAgent to do a small job, and returns the tools' names. */
async function workThroughEveryTool(client: Connection): Promise<ReadonlySet<string>> {
  const called = new Set<string>();
  const call = async (name: string, args: Readonly<Record<string, unknown>> = {}): Promise<Answer> => {
    called.add(name);
    const answer = await client.call(name, args);
    assert.equal(answer.isError, false, `${name}: ${answer.text}`);
    if (name === 'coordination_get_status') assert.match(answer.text, /^Goal: Try every tool\nTasks: 1 of 2/);
    else assert.deepEqual(JSON.parse(answer.text), answer.structured, `text and structured content of ${name} differ`);
    return answer;
  };
  const coordination = (name: string, args?: Readonly<Record<string, unknown>>) => call(`coordination_${name}`, args);
  const claimed = async (): Promise<unknown> => {
    const { task } = (await coordination('claim_task', { agent_id: 'worker1' })).structured;
    return isRecord(task) ? task['id'] : undefined;
  };

  await coordination('init_coordination', { goal: 'Try every tool', master_plan: '1. Call them' });
  await coordination('create_task', { description: 'First', priority: 1 });
  await coordination('create_tasks_batch', { tasks: [{ description: 'Second' }] });
  await coordination('register_agent', { agent_id: 'worker1', role: 'worker' });
  const first = await claimed();
  await coordination('start_task', { agent_id: 'worker1', task_id: first });
  await coordination('heartbeat', { agent_id: 'worker1' });
  await coordination('complete_task', { agent_id: 'worker1', task_id: first, output: 'It works' });
  const second = await claimed();
  assert.notEqual(second, first);
  await coordination('fail_task', { agent_id: 'worker1', task_id: second, error: 'It does not' });
  await coordination('add_discovery', { agent_id: 'worker1', content: 'Tools work', tags: ['tools'] });
  const { discoveries } = (await coordination('get_discoveries', { tags: ['tools'] })).structured;
  assert.equal(Array.isArray(discoveries) && discoveries.length, 1);
  const { results } = (await coordination('get_results')).structured;
  assert.equal(Array.isArray(results) && results.length, 1);
  const { tasks } = (await coordination('get_all_tasks', { status_filter: 'failed' })).structured;
  assert.equal(Array.isArray(tasks) && tasks.length, 1);
  assert.equal((await coordination('get_status')).structured['progress_percent'], 50);
  await coordination('retry_task', { task_id: second });
  await coordination('update_task', { task_id: second, priority: 2 });
  assert.equal(await claimed(), second);
  await coordination('message_agent', { agent_id: 'worker1', message: 'Leave it' });
  await coordination('release_task', { task_id: second });
  await coordination('cancel_task', { task_id: second });
  assert.equal((await coordination('get_master_plan')).structured['master_plan'], '1. Call them');
  await coordination('init_coordination', { goal: 'Somethign else' });
  assert.equal((await coordination('reopen')).structured['goal'], 'Try every tool');
  await call('onboarding_registerAgent', {
    agentInfo: { name: newAgentName('era'), type: 'developer', version: '1.0.0' },
    capabilities: [{ name: 'coding', category: 'general' }],
  });
  return called;
}
