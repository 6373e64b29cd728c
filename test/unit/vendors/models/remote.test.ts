import assert from 'node:assert/strict';
import { RemoteModels } from '../../../support/models/remote.ts';
import { ask, fixture, question } from './fixture.ts';

describe('local models in another process', function () {
  this.timeout(120_000);
  const { models, agent } = fixture();

  it('follow a script that a test sends over HTTP, and return the requests that they recorded', async () => {
    const remote = new RemoteModels(models.url);
    const { prompt, match } = question('claude', 'Is anybody there?');
    await remote.when(match, { does: 'answer', text: 'Somebody.' });
    assert.equal((await ask(agent('claude'), { prompt })).text, 'Somebody.');
    const [asked, ...more] = await remote.askedAbout(prompt);
    assert.deepEqual(more, []);
    assert.equal(asked?.prompt, prompt);
    assert.equal(asked?.vendor, 'anthropic');
    assert.deepEqual(await remote.problems(), []);
  });
});
