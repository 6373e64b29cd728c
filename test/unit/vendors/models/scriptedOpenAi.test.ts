/** The scripted OpenAI API, called with OpenAI's SDK as a coding agent would call it. */
import assert from 'node:assert/strict';
import { OpenAI } from 'openai';
import { ScriptedOpenAi } from '../../../support/models/openai/script.ts';

async function all<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const TOOL = { name: 'shell', description: 'Runs a command', parameters: {}, strict: false };
const tools: OpenAI.Responses.Tool[] = [{ type: 'function', ...TOOL }];

describe('scripted OpenAI API', () => {
  const model = new ScriptedOpenAi([
    { text: 'I look.', thinking: 'Hm.', calls: [{ tool: 'shell', input: { command: 'ls' } }], cached: 2 },
    ({ results }) => ({ text: `It printed ${results.at(-1)}.` }),
    { status: 429, code: 'insufficient_quota', headers: { 'retry-after': '5' } },
    { text: 'Half an answer', cutAfter: 4 },
    { failed: 'server_error' },
    { calls: [{ tool: 'shell', input: { command: 'pwd' } }] },
  ]);
  before(() => model.start());
  after(() => model.stop());
  const client = () => new OpenAI({ apiKey: 'local-key', baseURL: model.baseUrl, maxRetries: 0, logLevel: 'off' });

  const streamed = async (input: OpenAI.Responses.ResponseInput) => {
    const stream = await client().responses.create({ model: 'scripted', input, tools, stream: true });
    return all(stream);
  };
  const user = (content: string) => ({ role: 'user' as const, content });

  it('responds to each request that offers tools with the next answer of the script', async () => {
    const first = (await streamed([user('List the files.')])).at(-1);
    assert.ok(first?.type === 'response.completed');
    const call = first.response.output.find((item) => item.type === 'function_call');
    assert.ok(call);
    const { type, name, call_id, arguments: args } = call;
    const items = [
      { type, name, call_id, arguments: args },
      { type: 'function_call_output' as const, call_id, output: 'a.txt' },
    ];
    const second = await client().responses.create({ model: 'scripted', input: [user('List.'), ...items], tools });
    assert.equal(second.output_text, 'It printed a.txt.');
    await assert.rejects(streamed([user('Again.')]), { status: 429, code: 'insufficient_quota' });
    assert.equal(
      (await streamed([user('Cut.')]).catch(() => [])).some((event) => event.type === 'response.completed'),
      false,
    );
    assert.equal((await streamed([user('Fail.')])).at(-1)?.type, 'response.failed');
    assert.equal(model.asked[1]?.results[0], 'a.txt');
    assert.equal(model.asked[0]?.key, 'local-key');
    assert.ok(model.used.input > 0 && model.used.cached === 2);
  });

  it('responds to requests of the Chat Completions API from the same script', async () => {
    const chat = { model: 'scripted', messages: [user('Where am I?')] };
    const title = await client().chat.completions.create(chat);
    assert.equal(title.choices[0]?.message.content, 'A title');
    const offered: OpenAI.ChatCompletionTool[] = [{ type: 'function', function: { name: 'shell' } }];
    const stream = await client().chat.completions.create({ ...chat, tools: offered, stream: true });
    const deltas = (await all(stream)).flatMap(({ choices }) => choices.flatMap(({ delta }) => delta));
    assert.equal(deltas.find((delta) => delta.tool_calls)?.tool_calls?.[0]?.function?.arguments, '{"command":"pwd"}');
  });
});
