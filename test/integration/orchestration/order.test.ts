import assert from 'node:assert/strict';
import type { Mode } from '../../../functions/src/toolsets/orchestration/rules/workflows/definition.ts';
import { builtIn } from '../../../functions/src/toolsets/orchestration/rules/workflows/library.ts';
import { OrchestrationFixture } from './fixture.ts';

const several = (mode: Mode) => ({
  name: 'several',
  steps: [{ name: 'only', agents: ['claude', 'gemini'], mode, prompt: '{{input}}' }],
});

describe('a step of several agents', () => {
  const fixture = new OrchestrationFixture();
  before(() => fixture.start());
  after(() => fixture.stop());
  afterEach(() => fixture.assertAcceptable());

  /** Runs agents sequentially, and returns the requests in order. Each must start after the previous response. */
  async function inOrder(mode: Mode, says: (vendor: string) => string) {
    const input = fixture.question();
    for (const vendor of ['anthropic', 'gemini'] as const)
      fixture.models.when({ vendor, text: input, times: 1 }, { does: 'answer', text: says(vendor) });
    const { run, steps } = await fixture.run(several(mode), { input, parallel: false });
    assert.equal(run.status, 'succeeded', JSON.stringify(run.failure));
    const asked = fixture.models.askedAbout(input);
    for (const [index, one] of asked.entries()) {
      const before = asked[index - 1];
      assert.ok(before === undefined || (before.answeredAt ?? Number.NaN) <= one.at, `${mode}: request ${index}`);
    }
    return { asked: asked.map(({ vendor }) => vendor), steps, explanation: steps[0]?.explanation ?? '' };
  }

  const long = (vendor: string): string => `${vendor} says: ${'a word and another, '.repeat(20)}`;

  it('calls agents, judges and synthesizer one at a time if parallel is false', async () => {
    assert.deepEqual((await inOrder('all', long)).asked, ['anthropic', 'gemini']);
    // The models' answers contain no ranking, so each judge is asked twice.
    const judged = ['anthropic', 'gemini', 'anthropic', 'gemini'];
    assert.deepEqual((await inOrder('vote', long)).asked, ['anthropic', 'gemini', ...judged]);
    assert.deepEqual((await inOrder('merge', long)).asked, ['anthropic', 'gemini', 'gemini']);
  });

  it('calls no other agent of a sequential race after the first response', async () => {
    const { asked, explanation } = await inOrder('race', long);
    assert.deepEqual(asked, ['anthropic']);
    assert.match(explanation, /claude was the first .* gemini was cancelled\./);
    assert.deepEqual((await inOrder('race', (vendor) => (vendor === 'gemini' ? 'Hm.' : ' '))).asked, [
      'anthropic',
      'gemini',
    ]);
  });

  it('calls all agents concurrently by default', async () => {
    const input = fixture.question();
    fixture.models.when({ text: input }, { does: 'answer', company: 2 });
    const { run } = await fixture.run(several('all'), { input });
    assert.equal(run.status, 'succeeded');
  });

  it('shows the judge of the workflow "competitive" the task and each answer once, without names', async () => {
    const competitive = builtIn('competitive');
    assert.ok(competitive);
    const input = fixture.question();
    fixture.models.when({ vendor: 'anthropic', text: input, times: 1 }, { does: 'answer', text: 'FIRST ANSWER' });
    fixture.models.when({ vendor: 'gemini', text: input, times: 1 }, { does: 'answer', text: 'SECOND ANSWER' });
    const { run } = await fixture.run(competitive, { input });
    assert.equal(run.status, 'succeeded', JSON.stringify(run.failure));
    const judged = fixture.models.askedAbout(input).at(-1)?.prompt ?? '';
    for (const text of [input, 'FIRST ANSWER', 'SECOND ANSWER'])
      assert.equal(judged.split(text).length - 1, 1, `the prompt of the judge contains ${text} once`);
    assert.doesNotMatch(judged, /claude|gemini/);
  });
});
