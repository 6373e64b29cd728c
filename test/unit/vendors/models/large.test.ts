import assert from 'node:assert/strict';
import { AGENTS, ask, failureOf, fixture, question } from './fixture.ts';

const MEBIBYTE = 1024 * 1024;

/** Comment that the server sends between the events of an answer, to make the answer large. */
const COMMENT = `: ${'x'.repeat(64 * 1024)}\n\n`;

for (const name of AGENTS)
  describe(`large answer of ${name}`, function () {
    this.timeout(120_000);
    const { models, agent } = fixture();

    it('is aborted as soon as it exceeds 32 MiB', async () => {
      const { prompt, match } = question(name, 'Go on for ever.');
      const body = COMMENT.repeat(Math.ceil((33 * MEBIBYTE) / COMMENT.length));
      models.when(match, { does: 'babble', type: 'text/event-stream', body });
      const failure = await failureOf(ask(agent(name), { prompt }));
      assert.deepEqual([failure.kind, failure.outcome_unknown], ['malformed', true]);
      assert.match(failure.message, new RegExp(`^${name} returned .*\\(more than 32 MiB\\)\\.$`));
    });

    it('is read completely if it is smaller than 32 MiB, and its usage is counted', async () => {
      const { prompt, match } = question(name, 'Say much.');
      models.when(match, { does: 'answer', text: 'x'.repeat(2 * MEBIBYTE), pieces: 40 });
      const answer = await ask(agent(name), { prompt });
      assert.equal(answer.text.length, 2 * MEBIBYTE);
      assert.equal(answer.usage.output_tokens, 1000, 'the whole output limit');
    });
  });
