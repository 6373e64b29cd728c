/** The real Claude Code CLI calls Muster's tools as a scripted model instructs it. */
import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import { firestore } from '../../functions/src/kernel/firestore/client.ts';
import { taskPath } from '../../functions/src/kernel/firestore/paths.ts';
import { registerAgent, type TestAgent } from './support/agents.ts';
import { type ClaudeCode, installedClaudeCode } from './support/claudeCode.ts';
import { connect, connectAt, isRecord } from './support/clients.ts';
import { endpointUrl, newWorkspace } from './support/endpoint.ts';
import { type ScriptedModel, type Step, startScriptedModel, type ToolResult } from './support/scriptedModel.ts';

const TASKS = [{ description: 'Write the parser' }, { description: 'Test the parser', dependencies: ['task-1'] }];

/** Returns the model's calls: it creates two tasks, completes the first, and makes a call that fails. */
function scriptFor(agentId: string): readonly Step[] {
  const call = (tool: string, input: Readonly<Record<string, unknown>>) => ({
    tool: `mcp__muster__coordination_${tool}`,
    input,
  });
  const ofTask = (results: readonly ToolResult[]) => ({ agent_id: agentId, task_id: claimedId(results) });
  return [
    () => call('create_tasks_batch', { tasks: TASKS }),
    () => call('claim_task', { agent_id: agentId, start: true }),
    (results) =>
      call('complete_task', { ...ofTask(results), output: 'Parser written', files_created: ['src/parser.ts'] }),
    (results) => call('fail_task', { ...ofTask(results), error: 'Too late' }),
  ];
}

function claimedId(results: readonly ToolResult[]): unknown {
  const claimed: unknown = JSON.parse(results[1]?.text ?? '{}');
  return isRecord(claimed) && isRecord(claimed['task']) ? claimed['task']['id'] : undefined;
}

describe('Claude Code', () => {
  const workspace = newWorkspace('claude');
  let agent: TestAgent;
  let model: ScriptedModel;
  let claude: ClaudeCode;

  before(async () => {
    agent = await registerAgent('claude', { role: 'leader' });
    model = await startScriptedModel(scriptFor(agent.id));
    claude = await installedClaudeCode(model.url);
  });
  after(async () => {
    await claude?.close();
    await model?.close();
  });

  it("is tested with a scripted model, and Anthropic's SDK can read the responses of this model", async () => {
    const client = new Anthropic({ baseURL: model.url, apiKey: 'none', maxRetries: 0 });
    const question = {
      model: 'claude-opus-4-8',
      max_tokens: 100,
      messages: [{ role: 'user' as const, content: 'Hello' }],
    };
    assert.deepEqual((await client.messages.create(question)).content, [
      { type: 'text', text: 'Done.', citations: null },
    ]);
    assert.equal(await client.messages.stream(question).finalText(), 'Done.');
    const tools = [{ name: 'mcp__muster__coordination_create_tasks_batch', input_schema: { type: 'object' as const } }];
    const { content, stop_reason } = await client.messages.stream({ ...question, tools }).finalMessage();
    assert.equal(stop_reason, 'tool_use');
    assert.ok(content[0]?.type === 'tool_use');
    assert.deepEqual(content[0].input, { tasks: TASKS });
  });

  it('connects to the endpoint after the command "claude mcp add" has added it', async () => {
    const url = endpointUrl('', { workspace });
    const header = `Authorization: Bearer ${agent.token}`;
    assert.match(await claude.run('mcp', 'add', '--transport', 'http', 'muster', url, '--header', header), /Added/);
    assert.match(await claude.run('mcp', 'list'), /muster: .*✔ Connected/);
  });

  it('lists the tools, creates two tasks in one call, claims a task and completes it', async () => {
    const before = model.turns.length;
    const message = await claude.run(
      '-p',
      'Share out the work and do the first task.',
      '--allowedTools',
      'mcp__muster',
    );
    assert.match(message, /Done\./);
    const turns = model.turns.slice(before);
    assert.equal(turns.length, 5);
    for (const name of await toolNames()) assert.ok(turns[0]?.tools.includes(`mcp__muster__${name}`), name);
    const results = turns.at(-1)?.results ?? [];
    const [batch, claimed, completed] = results.map(({ text }): unknown => JSON.parse(text));
    const errors = results.map(({ isError }) => isError);
    assert.deepEqual(errors, [false, false, false, true]);
    assert.ok(isRecord(batch) && batch['created'] === 2);
    assert.ok(isRecord(claimed) && claimed['success'] === true);
    assert.deepEqual(completed, { success: true });
  });

  it('passes the error of a failed tool call to its model', () =>
    assert.match(model.turns.at(-1)?.results.at(-1)?.text ?? '', /"error":.*done/));

  it('completes a task whose result another client can then read', async () => {
    const id = claimedId(model.turns.at(-1)?.results ?? []);
    const stored = (
      await firestore()
        .doc(taskPath(String(id)))
        .get()
    ).data();
    assert.equal(stored?.['status'], 'done');
    const other = await connect('sdk 1.x', endpointUrl('/coordination', { workspace }), agent.token);
    const { results } = (await other.call('get_results')).structured;
    assert.ok(Array.isArray(results) && results.length === 1);
    assert.deepEqual(results[0].result, { output: 'Parser written', files_created: ['src/parser.ts'] });
    assert.equal(results[0].task_id, id);
    const next = (await other.call('claim_task', { agent_id: agent.id })).structured['task'];
    assert.ok(isRecord(next) && next['description'] === 'Test the parser');
    await other.close();
  });

  it('makes no attempt to connect to a host outside this machine', () => assert.deepEqual(claude.outside, []));

  async function toolNames(): Promise<readonly string[]> {
    const client = await connectAt('client 2026-07-28', endpointUrl(), agent.token);
    const tools = await client.listTools();
    await client.close();
    return tools.map((tool) => tool.name);
  }
});
