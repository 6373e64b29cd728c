import assert from 'node:assert/strict';
import { AGENTS, ask, failureOf, fixture, question, TWO_PIECES } from './fixture.ts';

describe('request to a model that is stopped', function () {
  this.timeout(120_000);
  const { models, agent } = fixture();

  for (const name of AGENTS)
    describe(name, () => {
      it('closes its connection before the first word of the answer', async () => {
        const { prompt, match } = question(name, 'Think for ever.');
        models.when(match, { does: 'hang' });
        const stopping = new AbortController();
        const asking = failureOf(ask(agent(name), { prompt }, { signal: stopping.signal }));
        const asked = await models.arrival(prompt);
        stopping.abort();
        const failure = await asking;
        assert.equal(failure.kind, 'aborted');
        assert.equal(failure.outcome_unknown, true);
        await models.closing(asked);
      });

      it('closes its connection in the middle of the answer', async () => {
        const { prompt, match } = question(name, 'Begin, and never end.');
        models.when(match, { does: 'hang', after: TWO_PIECES[name] });
        const stopping = new AbortController();
        const onText = (): void => {
          stopping.abort();
        };
        const failure = await failureOf(ask(agent(name), { prompt }, { signal: stopping.signal, onText }));
        assert.equal(failure.kind, 'aborted');
        assert.ok(failure.usage && failure.usage.input_tokens >= Math.ceil(prompt.length / 5));
        assert.ok(failure.usage.output_tokens > 1, 'the received text is counted');
        await models.closing(await models.arrival(prompt));
      });

      it('closes its connection at the timeout, and reports the timeout', async () => {
        const { prompt, match } = question(name, 'Take your time.');
        models.when(match, { does: 'hang' });
        const stopping = new AbortController();
        const asking = failureOf(ask(agent(name), { prompt }, { signal: stopping.signal }));
        const asked = await models.arrival(prompt);
        // Uses the reason of AbortSignal.timeout(), at a moment that does not depend on the machine's speed.
        stopping.abort(new DOMException('The operation timed out.', 'TimeoutError'));
        const failure = await asking;
        assert.equal(failure.kind, 'timeout');
        assert.equal(failure.outcome_unknown, true);
        await models.closing(asked);
      });

      it('is not sent if it was stopped before it started', async () => {
        const { prompt } = question(name, 'Never mind.');
        const failure = await failureOf(ask(agent(name), { prompt }, { signal: AbortSignal.abort() }));
        assert.equal(failure.kind, 'aborted');
        assert.equal(failure.outcome_unknown, false);
        assert.equal(models.askedAbout(prompt).length, 0);
      });

      it('closes its connection if the listener throws an error', async () => {
        const { prompt, match } = question(name, 'Begin, and go on.');
        models.when(match, { does: 'hang', after: TWO_PIECES[name] });
        const onText = (): void => {
          throw new Error('enough');
        };
        await assert.rejects(ask(agent(name), { prompt }, { onText }), /enough/);
        await models.closing(await models.arrival(prompt));
      });
    });
});
