/** A vendor that goes on and on is cut off, and one that says much is read to its end: its counts come last. */
import assert from 'node:assert/strict';
import { AGENTS, ask, failureOf, question, stage } from './stage.ts';

const MEBIBYTE = 1024 * 1024;

/** Of what events are made around an answer. */
const COMMENT = `: ${'x'.repeat(64 * 1024)}\n\n`;

for (const name of AGENTS) {
  describe(`a large answer of ${name}`, function () {
    this.timeout(120_000);
    const { models, agent } = stage();

    it('is cut off beyond 32 MiB, and nobody waits for its end', async () => {
      const { prompt, match } = question(name, 'Go on for ever.');
      const body = COMMENT.repeat(Math.ceil((33 * MEBIBYTE) / COMMENT.length));
      models.when(match, { does: 'babble', type: 'text/event-stream', body });
      const failure = await failureOf(ask(agent(name), { prompt }));
      assert.deepEqual([failure.kind, failure.outcome_unknown], ['malformed', true]);
      assert.match(failure.message, new RegExp(`^${name} returned .*\\(more than 32 MiB\\)\\.$`));
    });

    it('is read to its end below that, with what it cost', async () => {
      const { prompt, match } = question(name, 'Say much.');
      models.when(match, { does: 'answer', text: 'x'.repeat(2 * MEBIBYTE), pieces: 40 });
      const answer = await ask(agent(name), { prompt });
      assert.equal(answer.text.length, 2 * MEBIBYTE);
      assert.equal(answer.usage.output_tokens, 1000, 'all that it was asked for');
    });
  });
}
