/** What nobody waits for any more is really stopped: the vendor sees the connection close. */
import assert from 'node:assert/strict';
import { AGENTS, ask, failureOf, question, stage } from './stage.ts';

describe('stopping to ask a model', function () {
  this.timeout(120_000);
  const { models, agent } = stage();

  for (const name of AGENTS) {
    describe(name, () => {
      it('closes the request before the first word', async () => {
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

      it('closes the request in the middle of the answer', async () => {
        const { prompt, match } = question(name, 'Begin, and never end.');
        models.when(match, { does: 'hang', after: name === 'claude' ? 5 : 2 });
        const stopping = new AbortController();
        const onText = (): void => {
          stopping.abort();
        };
        const failure = await failureOf(ask(agent(name), { prompt }, { signal: stopping.signal, onText }));
        assert.equal(failure.kind, 'aborted');
        assert.equal(failure.usage?.input_tokens, Math.ceil(prompt.length / 4));
        assert.ok(failure.usage.output_tokens > 1, 'the text that came is counted');
        await models.closing(await models.arrival(prompt));
      });

      it('closes the request when its time is up, and says so', async () => {
        const { prompt, match } = question(name, 'Take your time.');
        models.when(match, { does: 'hang' });
        const stopping = new AbortController();
        const asking = failureOf(ask(agent(name), { prompt }, { signal: stopping.signal }));
        const asked = await models.arrival(prompt);
        // What AbortSignal.timeout() gives as its reason, at an instant that does not depend on the machine.
        stopping.abort(new DOMException('The operation timed out.', 'TimeoutError'));
        const failure = await asking;
        assert.equal(failure.kind, 'timeout');
        assert.equal(failure.outcome_unknown, true);
        await models.closing(asked);
      });

      it('asks nothing where it was stopped before', async () => {
        const { prompt } = question(name, 'Never mind.');
        const failure = await failureOf(ask(agent(name), { prompt }, { signal: AbortSignal.abort() }));
        assert.equal(failure.kind, 'aborted');
        assert.equal(failure.outcome_unknown, false);
        assert.equal(models.askedAbout(prompt).length, 0);
      });

      it('closes the request where its listener fails', async () => {
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
