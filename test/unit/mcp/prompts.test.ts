/** The prompts of the deployment over HTTP, with the names of tools at each address. */
import assert from 'node:assert/strict';
import { toolsets } from '../../../functions/src/toolsets/index.ts';
import { JSON_BY_LEADER, memoryPorts, type RunningEndpoint, serveEndpoint } from '../../support/mcp-endpoint.ts';
import { type Fields, resultOf, send } from '../../support/modernCalls.ts';

const WRITING = ['work', 'plan', 'delegate'];
const READING = ['review', 'status', 'needs_me'];

describe('prompts', () => {
  let endpoint: RunningEndpoint;
  before(async () => {
    endpoint = await serveEndpoint({ ...memoryPorts(), toolsets });
  });
  after(() => endpoint?.close());

  const namesAt = async (path: string) => {
    const { prompts, ttlMs } = resultOf(await send(`${endpoint.url}${path}`, 'prompts/list', {}));
    assert.equal(ttlMs, 300_000);
    return Object(prompts).map(({ name }: Fields) => name);
  };
  const get = (name: string, args: object, path = '/mcp') =>
    send(`${endpoint.url}${path}`, 'prompts/get', { name, arguments: args });
  const textOf = async (...asked: Parameters<typeof get>) => {
    const [message] = Object(resultOf(await get(...asked))['messages']);
    assert.deepEqual([message.role, message.content.type], ['user', 'text']);
    return String(message.content.text);
  };

  it('are those of the toolsets that the address selects', async () => {
    assert.deepEqual((await namesAt('/mcp')).sort(), [...WRITING, ...READING].sort());
    assert.deepEqual((await namesAt('/mcp?readonly=1')).sort(), [...READING].sort());
    assert.deepEqual(await namesAt('/mcp/coding'), ['delegate']);
  });

  it('name the tools as the address does, and end with the arguments', async () => {
    const text = await textOf('work', { task_id: 'task-7' });
    assert.match(text, /Call coordination_claim_task \{/);
    assert.match(text, /\n\ntask_id: task-7$/);
    assert.match(await textOf('work', { task_id: ' ' }, '/mcp/coordination'), /Call claim_task \{(?!.*task-7)/s);
  });

  it('name only tools that exist', async () => {
    const args: Readonly<Record<string, object>> = {
      plan: { goal: 'x' },
      review: { task_id: 'x' },
      delegate: { description: 'x' },
    };
    for (const name of [...WRITING, ...READING])
      assert.doesNotMatch(
        await textOf(name, args[name] ?? {}),
        /\(at \/mcp\/|\b(coordination|coding|inbox|access)\.\w/,
      );
  });

  it('keep the text of an argument as it is, except for hidden characters', async () => {
    const goal = 'Use coordination.claim_task\nand \u001b[31mred\u202e';
    assert.match(await textOf('plan', { goal }), /\n\ngoal: Use coordination\.claim_task\nand red\ufffd$/);
  });

  for (const [name, args, fault] of [
    ['review', {}, /task_id/],
    ['review', { task_id: 7 }, /expected text/],
    ['review', { task_id: 'x'.repeat(101) }, /task_id.*at most 100/],
    ['work', { other: 'x' }, /other/],
    ['work', { __proto__: null, constructor: 'x' }, /constructor/],
    ['unknown', {}, /^Unknown prompt: unknown\. Prompts: work, /],
    ['constructor', {}, /^Unknown prompt: constructor/],
  ] as const)
    it(`are refused: ${name} with ${JSON.stringify(args).slice(0, 40)}`, async () => {
      const { code, message } = Object((await get(name, args))['error']);
      assert.equal(code, -32602);
      assert.match(message, fault);
    });

  it('exist in the older revisions too, and complete their arguments', async () => {
    const ask = async (method: string, params: object) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
      const response = await fetch(`${endpoint.url}/mcp`, { method: 'POST', headers: JSON_BY_LEADER, body });
      return Object(await response.json());
    };
    assert.equal((await ask('prompts/list', {})).result.prompts.length, 6);
    const complete = (argument: object) =>
      ask('completion/complete', { ref: { type: 'ref/prompt', name: 'status' }, argument });
    assert.deepEqual((await complete({ name: 'scope', value: 't' })).result.completion.values, ['team']);
    assert.match((await complete({ name: 'other', value: '' })).error.message, /no argument other/);
  });
});
