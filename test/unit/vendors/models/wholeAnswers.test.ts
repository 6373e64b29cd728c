import assert from 'node:assert/strict';
import { Anthropic } from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { OpenAI } from 'openai';
import { fixture, KEY, question } from './fixture.ts';

describe('answer of a local model that is not streamed', function () {
  this.timeout(120_000);
  const { models } = fixture();

  it('is understood by the SDK of Anthropic', async () => {
    const { prompt, match } = question('claude', 'Whole, please.');
    models.when(match, { does: 'answer', text: 'Here it is.' });
    const client = new Anthropic({ apiKey: KEY, baseURL: models.url });
    const message = await client.messages.create({
      model: 'claude-test',
      max_tokens: 100,
      messages: [{ role: 'user', content: [{ type: 'text', text: prompt }] }],
    });
    assert.deepEqual(message.content, [{ type: 'text', text: 'Here it is.', citations: null }]);
    assert.equal(message.stop_reason, 'end_turn');
    assert.equal(models.askedAbout(prompt)[0]?.streamed, false);
  });

  it('is understood by the SDK of OpenAI, in both dialects', async () => {
    const { prompt } = question('openai', 'Whole, please.');
    models.when({ text: prompt }, { does: 'answer', text: 'Here it is.' });
    const client = new OpenAI({ apiKey: KEY, baseURL: `${models.url}/v1` });
    const response = await client.responses.create({ model: 'openai-test', input: prompt, store: false });
    assert.equal(response.output_text, 'Here it is.');
    const messages = [{ role: 'user' as const, content: prompt }];
    const completion = await client.chat.completions.create({ model: 'chat-test', messages });
    assert.equal(completion.choices[0]?.message.content, 'Here it is.');
    assert.ok(models.askedAbout(prompt).every(({ streamed }) => !streamed));
  });

  it('is understood by the SDK of Google', async () => {
    const { prompt, match } = question('gemini', 'Whole, please.');
    models.when(match, { does: 'answer', text: 'Here it is.' });
    const client = new GoogleGenAI({ apiKey: KEY, vertexai: false, httpOptions: { baseUrl: models.url } });
    const response = await client.models.generateContent({ model: 'gemini-test', contents: prompt });
    assert.equal(response.text, 'Here it is.');
    assert.equal(models.askedAbout(prompt)[0]?.streamed, false);
  });
});
