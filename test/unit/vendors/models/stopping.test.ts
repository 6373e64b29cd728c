import assert from 'node:assert/strict';
import { AGENTS, ask, failureOf, fixture, question } from './fixture.ts';

describe('stopping a model request', function () {
  this.timeout(120_000);
  const { models, agent } = fixture();

  for (const name of AGENTS) {
    describe(name, () => {
      it('closes the connection before the first word', async () => {
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

      it('closes the connection in the middle of the answer', async () => {
        const { prompt, match } = question(name, 'Begin, and never end.');
        models.when(match, { does: 'hang', after: name === 'claude' ? 5 : 2 });
        const stopping = new AbortController();
        const onText = (): void => {
          stopping.abort();
        };
        const failure = await failureOf(ask(agent(name), { prompt }, { signal: stopping.signal, onText }));
        assert.equal(failure.kind, 'aborted');
        assert.equal(failure.usage?.input_tokens, Math.ceil(prompt.length / 4));
        assert.ok(failure.usage.output_tokens > 1, 'the received text is counted');
        await models.closing(await models.arrival(prompt));
      });

      it('closes the connection at the timeout and reports it', async () => {
        const { prompt, match } = question(name, 'Take your time.');
        models.when(match, { does: 'hang' });
        const stopping = new AbortController();
        const asking = failureOf(ask(agent(name), { prompt }, { signal: stopping.signal }));
        const asked = await models.arrival(prompt);
        // The reason of AbortSignal.timeout(), at a time that does not depend on the machine.
        stopping.abort(new DOMException('The operation timed out.', 'TimeoutError'));
        const failure = await asking;
        assert.equal(failure.kind, 'timeout');
        assert.equal(failure.outcome_unknown, true);
        await models.closing(asked);
      });

      it('sends nothing if the signal is already aborted', async () => {
        const { prompt } = question(name, 'Never mind.');
        const failure = await failureOf(ask(agent(name), { prompt }, { signal: AbortSignal.abort() }));
        assert.equal(failure.kind, 'aborted');
        assert.equal(failure.outcome_unknown, false);
        assert.equal(models.askedAbout(prompt).length, 0);
      });

      it('closes the connection if the listener throws', async () => {
        const { prompt, match } = question(name, 'Begin, and go on.');
        models.when(match, { does: 'hang', after: name === 'claude' ? 5 : 2 });
        const onText = (): void => {
          throw new Error('enough');
        };
        await assert.rejects(ask(agent(name), { prompt }, { onText }), /enough/);
        await models.closing(await models.arrival(prompt));
      });
    });
  }
});
