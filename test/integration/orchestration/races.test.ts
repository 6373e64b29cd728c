import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { defaultOrNightly } from '../../support/nightly.ts';
import { OrchestrationFixture } from './fixture.ts';

const RACES = defaultOrNightly(20, { night: 100 });
const RACE = { name: 'race', steps: [{ name: 'answer', agents: ['claude', 'gemini'], mode: 'race' }] };

const SIDES = [
  { agent: 'claude', vendor: 'anthropic' },
  { agent: 'gemini', vendor: 'gemini' },
] as const;

describe('runs of a race between two agents', function () {
  this.timeout(20 * 60_000);
  const fixture = new OrchestrationFixture();
  before(() => fixture.start());
  after(async () => {
    await fixture.stop();
    fixture.assertAcceptable();
  });

  it(`select the fast agent and abort the slow request in ${RACES} of ${RACES} races`, async () => {
    const { models } = fixture;
    for (let number = 0; number < RACES; number++) {
      const [fast, slow] = number % 2 === 0 ? SIDES : [SIDES[1], SIDES[0]];
      const input = `race ${number} ${randomUUID()}`;
      models.when({ vendor: fast.vendor, text: input }, { does: 'answer', text: 'First!', company: 2 });
      // The slow agent stops responding, either before its first word or in the middle of its answer.
      models.when({ vendor: slow.vendor, text: input }, { does: 'hang', ...(number % 4 < 2 && { after: 2 }) });
      const { run, steps } = await fixture.run(RACE, { input });
      assert.equal(run.status, 'succeeded');
      assert.deepEqual(steps[0]?.agents, [fast.agent]);
      assert.equal(steps[0]?.output, 'First!');
      assert.equal(steps[0]?.attempts.find(({ agent }) => agent === slow.agent)?.end, 'aborted');
      const asked = models.askedAbout(input);
      assert.equal(asked.length, 2);
      const loser = asked.find(({ vendor }) => vendor === slow.vendor)!;
      await models.closing(loser);
    }
  });
});
