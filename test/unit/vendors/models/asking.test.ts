/** Requests to the models of all vendors through the vendors' SDKs, sent to local servers that use the vendors' protocols. */
import assert from 'node:assert/strict';
import { AGENTS, ask, fixture, modelOf, question, TWO_PIECES } from './fixture.ts';

describe('request to a model', function () {
  this.timeout(120_000);
  const { models, agent } = fixture();

  for (const name of AGENTS)
    describe(name, () => {
      it('returns the text, the name of the model and the usage', async () => {
        const { prompt, match } = question(name, 'What is a race?');
        models.when(match, { does: 'answer', text: 'Whoever answers first wins.' });
        const answer = await ask(agent(name), { prompt });
        assert.deepEqual(answer, {
          text: 'Whoever answers first wins.',
          model: modelOf(name),
          usage: { input_tokens: Math.ceil(prompt.length / 4), output_tokens: 7 },
          complete: true,
        });
      });

      it('is sent exactly once, with all parameters', async () => {
        const { prompt } = question(name, 'Zeilen\nund "Zeichen" — 你好 🙂');
        await ask(agent(name), { prompt, maxOutputTokens: 77 });
        const [asked, ...more] = models.askedAbout(prompt);
        assert.equal(more.length, 0);
        assert.equal(asked?.prompt, prompt);
        assert.equal(asked?.maxOutputTokens, 77);
        assert.equal(asked?.model, modelOf(name));
        assert.equal(asked?.streamed, true);
      });

      it('streams pieces that together form the answer', async () => {
        const { prompt, match } = question(name, 'Tell a story.');
        const text = 'Once upon a time there was a queue — ganz ohne Ende 🙂.';
        models.when(match, { does: 'answer', text, pieces: 7 });
        const pieces: string[] = [];
        const answer = await ask(agent(name), { prompt }, { onText: (piece) => pieces.push(piece) });
        assert.equal(pieces.length, 7);
        assert.equal(pieces.join(''), text);
        assert.equal(answer.text, text);
      });

      it('marks an answer as incomplete if the answer is truncated', async () => {
        const { prompt, match } = question(name, 'Tell everything.');
        models.when(match, { does: 'answer', text: 'To begin with, '.repeat(9), end: 'limit' });
        const answer = await ask(agent(name), { prompt, maxOutputTokens: 16 });
        assert.equal(answer.complete, false);
        assert.equal(answer.text, 'To begin with, '.repeat(9));
        assert.equal(answer.usage.output_tokens, 16);
      });

      it('returns an empty text if thinking uses up the limit, and counts the thinking tokens', async () => {
        const { prompt, match } = question(name, 'Think first.');
        models.when(match, { does: 'answer', text: '', thinks: 'Well, '.repeat(20), end: 'limit' });
        const answer = await ask(agent(name), { prompt, maxOutputTokens: 16 });
        assert.deepEqual([answer.text, answer.complete, answer.usage.output_tokens], ['', false, 16]);
      });

      it('returns the answer without the thinking text', async () => {
        const { prompt, match } = question(name, 'Think, and say.');
        models.when(match, { does: 'answer', text: 'Said.', thinks: 'Well, '.repeat(20) });
        const pieces: string[] = [];
        const { text, usage } = await ask(agent(name), { prompt }, { onText: (piece) => pieces.push(piece) });
        assert.deepEqual([text, pieces.join('')], ['Said.', 'Said.']);
        assert.ok(usage.output_tokens >= 30, String(usage.output_tokens));
      });

      it('replaces lone surrogates in the answer, because databases reject these', async () => {
        const { prompt, match } = question(name, 'Half, please.');
        models.when(match, { does: 'answer', text: 'half \ud83d of \ude42 it, whole 🙂', pieces: 1 });
        assert.equal((await ask(agent(name), { prompt })).text, 'half \ufffd of \ufffd it, whole 🙂');
      });

      it('receives only its own answer if several requests are concurrent', async () => {
        const one = agent(name);
        const prompts = Array.from({ length: 20 }, (_, number) => question(name, `number ${number}`).prompt);
        const answers = await Promise.all(prompts.map((prompt) => ask(one, { prompt })));
        const texts = answers.map(({ text }) => text);
        const expected = prompts.map((prompt) => `An answer to: ${prompt}`);
        assert.deepEqual(texts, expected);
      });

      it('throws the error that its listener throws, and closes the connection', async () => {
        const { prompt, match } = question(name, 'Tell me.');
        models.when(match, { does: 'hang', after: TWO_PIECES[name] });
        const asking = ask(
          agent(name),
          { prompt },
          {
            onText: () => {
              throw new Error('the listener has enough');
            },
          },
        );
        await assert.rejects(asking, /the listener has enough/);
      });
    });

  it('estimates the usage if the server reports none, because nothing is recorded as free', async () => {
    const { prompt, match } = question('local', 'Count yourself.');
    models.when(match, { does: 'answer', text: 'one two three four', usage: false });
    const { usage } = await ask(agent('local'), { prompt });
    assert.ok(usage.input_tokens >= prompt.length / 5 && usage.output_tokens >= 4, JSON.stringify(usage));
  });

  it('returns the cost that the server reports', async () => {
    const { prompt, match } = question('local', 'What is it worth?');
    models.when(match, { does: 'answer', costUsd: 0.0123 });
    assert.equal((await ask(agent('local'), { prompt })).usage.cost_usd, 0.0123);
  });
});
