import assert from 'node:assert/strict';
import { AGENTS, ask, failureOf, fixture, question } from './fixture.ts';

const MEBIBYTE = 1024 * 1024;

/** Padding between the events of an answer. */
const COMMENT = `: ${'x'.repeat(64 * 1024)}\n\n`;

for (const name of AGENTS) {
  describe(`large answer of ${name}`, function () {
    this.timeout(120_000);
    const { models, agent } = fixture();

    it('is aborted beyond 32 MiB without waiting for its end', async () => {
      const { prompt, match } = question(name, 'Go on for ever.');
      const body = COMMENT.repeat(Math.ceil((33 * MEBIBYTE) / COMMENT.length));
      models.when(match, { does: 'babble', type: 'text/event-stream', body });
      const failure = await failureOf(ask(agent(name), { prompt }));
      assert.deepEqual([failure.kind, failure.outcome_unknown], ['malformed', true]);
      assert.match(failure.message, new RegExp(`^${name} returned .*\\(more than 32 MiB\\)\\.$`));
    });

    it('is read to its end below that limit, with its usage', async () => {
      const { prompt, match } = question(name, 'Say much.');
      models.when(match, { does: 'answer', text: 'x'.repeat(2 * MEBIBYTE), pieces: 40 });
      const answer = await ask(agent(name), { prompt });
      assert.equal(answer.text.length, 2 * MEBIBYTE);
      assert.equal(answer.usage.output_tokens, 1000, 'the whole output limit');
    });
  });
}
