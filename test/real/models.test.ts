/** Calls to the real models: a short answer, a wrong key and an aborted request. One run costs less than a cent. */
import assert from 'node:assert/strict';
import { hostedAgents } from '../../functions/src/composition/hostedAgents.ts';
import { modelEnvironment } from '../../functions/src/config.ts';
import { type HostedAgent, ModelFailure } from '../../functions/src/toolsets/orchestration/rules/agents/model.ts';
import { describeReal } from './asking.ts';

const VENDORS = [
  ['anthropic', 'claude', 'ANTHROPIC_API_KEY'],
  ['gemini', 'gemini', 'GEMINI_API_KEY'],
] as const;

const log = { info: () => {}, warn: () => {}, error: () => {} };

for (const [service, agent, secret] of VENDORS)
  describeReal(service, () => {
    const make = (key = process.env[secret]) => {
      const agents = hostedAgents({ ...modelEnvironment(), secrets: { [secret]: key } }, { log });
      return agents.find(({ name }) => name === agent) ?? assert.fail();
    };
    const ask = (from: HostedAgent, prompt: string, maxOutputTokens: number, onText = (_: string) => {}) =>
      from.ask({ prompt, maxOutputTokens }, { signal: AbortSignal.timeout(60_000), onText });

    it('streams an answer, and reports the number of tokens used', async () => {
      const model = make();
      assert.deepEqual(model.availability(), { available: true });
      let pieces = '';
      // The maximum number of output tokens is high, because a model's thoughts count as output.
      const answer = await ask(model, 'Answer with the one word pong and nothing else.', 2000, (text) => {
        pieces += text;
      });
      assert.match(answer.text, /\w/);
      assert.equal(pieces, answer.text);
      assert.equal(answer.complete, true);
      assert.ok(answer.usage.input_tokens > 0 && answer.usage.output_tokens > 0, JSON.stringify(answer.usage));
      assert.notEqual(answer.model, '');
    });

    it('reports an authentication failure if the API key is wrong', async () => {
      const stranger = make('wrong-key-of-test');
      await assert.rejects(ask(stranger, 'ping', 20), (error: unknown) => {
        assert.ok(error instanceof ModelFailure, String(error));
        assert.equal(error.kind, 'authentication', error.message);
        return true;
      });
    });

    it('aborts the request if the caller has cancelled it', async () => {
      const missing = AbortSignal.abort();
      await assert.rejects(
        make().ask({ prompt: 'ping', maxOutputTokens: 20 }, { signal: missing }),
        (error: unknown) => error instanceof ModelFailure && error.kind === 'aborted',
      );
    });
  });
