/** Who is asked when, and with what, by a step of several agents. */
import assert from 'node:assert/strict';
import type { Mode } from '../../../functions/src/toolsets/orchestration/rules/workflows/definition.ts';
import { builtIn } from '../../../functions/src/toolsets/orchestration/rules/workflows/library.ts';
import { Orchestra } from './orchestra.ts';

const several = (mode: Mode) => ({
  name: 'several',
  steps: [{ name: 'only', agents: ['claude', 'gemini'], mode, prompt: '{{input}}' }],
});

describe('a step of several agents', () => {
  const orchestra = new Orchestra();
  before(() => orchestra.start());
  after(() => orchestra.stop());
  afterEach(() => orchestra.assertAcceptable());

  /** The requests of a run, as the models saw them; nobody is asked before the one before has answered. */
  async function inOrder(mode: Mode, says: (vendor: string) => string) {
    const input = orchestra.question();
    for (const vendor of ['anthropic', 'gemini'] as const)
      orchestra.models.when({ vendor, text: input, times: 1 }, { does: 'answer', text: says(vendor) });
    const { run, steps } = await orchestra.run(several(mode), { input, parallel: false });
    assert.equal(run.status, 'succeeded', JSON.stringify(run.failure));
    const asked = orchestra.models.askedAbout(input);
    for (const [index, one] of asked.entries()) {
      const before = asked[index - 1];
      assert.ok(
        before === undefined || (before.answeredAt ?? Number.NaN) <= one.at,
        `${mode}: request ${index}`,
      );
    }
    return { asked: asked.map(({ vendor }) => vendor), steps, explanation: steps[0]?.explanation ?? '' };
  }

  const long = (vendor: string): string => `${vendor} says: ${'a word and another, '.repeat(20)}`;

  it('asks one after the other with parallel: false, judges and synthesiser too', async () => {
    assert.deepEqual((await inOrder('all', long)).asked, ['anthropic', 'gemini']);
    // No ranking can be read, so each judge is asked once more.
    const judged = ['anthropic', 'gemini', 'anthropic', 'gemini'];
    assert.deepEqual((await inOrder('vote', long)).asked, ['anthropic', 'gemini', ...judged]);
    assert.deepEqual((await inOrder('merge', long)).asked, ['anthropic', 'gemini', 'gemini']);
  });

  it('asks nobody after the first with an answer, in a race', async () => {
    const { asked, explanation } = await inOrder('race', long);
    assert.deepEqual(asked, ['anthropic']);
    assert.match(explanation, /claude was the first .* gemini was cancelled\./);
    assert.deepEqual((await inOrder('race', (vendor) => (vendor === 'gemini' ? 'Hm.' : ' '))).asked, [
      'anthropic',
      'gemini',
    ]);
  });

  it('asks all at once otherwise', async () => {
    const input = orchestra.question();
    orchestra.models.when({ text: input }, { does: 'answer', company: 2 });
    const { run } = await orchestra.run(several('all'), { input });
    assert.equal(run.status, 'succeeded');
  });

  it('is judged in competitive by whoever sees the task and each answer once, without names', async () => {
    const competitive = builtIn('competitive');
    assert.ok(competitive);
    const input = orchestra.question();
    orchestra.models.when(
      { vendor: 'anthropic', text: input, times: 1 },
      { does: 'answer', text: 'FIRST ANSWER' },
    );
    orchestra.models.when(
      { vendor: 'gemini', text: input, times: 1 },
      { does: 'answer', text: 'SECOND ANSWER' },
    );
    const { run } = await orchestra.run(competitive, { input });
    assert.equal(run.status, 'succeeded', JSON.stringify(run.failure));
    const judged = orchestra.models.askedAbout(input).at(-1)?.prompt ?? '';
    for (const text of [input, 'FIRST ANSWER', 'SECOND ANSWER'])
      assert.equal(judged.split(text).length - 1, 1, `${text} stands there once`);
    assert.doesNotMatch(judged, /claude|gemini/);
  });
});
