/** Workflow steps in which the first answer of two hosted agents wins. Their requests are sent over HTTP. */
import assert from 'node:assert/strict';
import { systemClock, systemRandomness, systemTimer } from '../../../../functions/src/kernel/platform.ts';
import type { HostedAgent } from '../../../../functions/src/toolsets/orchestration/rules/agents/model.ts';
import { RunBudget } from '../../../../functions/src/toolsets/orchestration/rules/calls/budget.ts';
import { call } from '../../../../functions/src/toolsets/orchestration/rules/calls/calling.ts';
import type { OrchestrationPorts } from '../../../../functions/src/toolsets/orchestration/rules/ports.ts';
import { type Ask, type ModeResult, race } from '../../../../functions/src/toolsets/orchestration/rules/steps/ask.ts';
import { portsOf } from '../../../support/ports.ts';
import { AGENTS, type AgentName, fixture, question, TWO_PIECES, VENDORS } from './fixture.ts';

/** Pairs of agents that race, and the number of races of each pair. */
const PAIRS: readonly (readonly [AgentName, AgentName])[] = [
  ['claude', 'gemini'],
  ['openai', 'local'],
  ['vertex-claude', 'vertex-gemini'],
];
const RACES = 40;
const MINUTES = 10 * 60_000;

describe('race between two hosted agents', function () {
  this.timeout(MINUTES);
  const { models, agent } = fixture();

  let racers: readonly HostedAgent[] = [];
  before(() => {
    racers = AGENTS.map((name) => agent(name));
  });

  /** Returns a function that sends a request as a run does. @param recorded delays the record of an answer */
  const asking =
    (recorded: () => Promise<unknown> = async () => {}): Ask =>
    ({ key, agent: name, prompt, signal = new AbortController().signal, onAnswer }) => {
      const racer = racers.find((one) => one.name === name);
      assert.ok(racer !== undefined);
      return call(
        {
          key,
          prompt,
          signal,
          onAnswer,
          maxOutputTokens: 1000,
          timeout: MINUTES,
          deadline: new Date(Date.now() + MINUTES),
          sharedBy: 2,
          candidates: [racer],
          attempts: 1,
          repeatable: true,
        },
        portsOf<OrchestrationPorts>({ clock: systemClock, timer: systemTimer, randomness: systemRandomness }),
        {
          budget: new RunBudget({}),
          refusedProviders: new Set(),
          journal: {
            begin: async () => undefined,
            end: async ({ end }) => {
              if (end === 'answered') await recorded();
            },
          },
        },
      );
    };

  /** The slow agent never ends its answer: it sends nothing, or it stops in the middle. */
  async function run(
    fast: AgentName,
    slow: AgentName,
    begins: boolean,
    recorded?: (about: string) => Promise<unknown>,
  ) {
    const { prompt, match } = question(fast, 'Who is faster?');
    models.when(match, { does: 'answer', text: `It is ${fast}.`, company: 2 });
    models.when({ vendor: VENDORS[slow], text: prompt }, { does: 'hang', ...(begins && { after: TWO_PIECES[slow] }) });
    const ask = asking(recorded && (() => recorded(prompt)));
    const result = await race({ agents: [fast, slow], prompt, ask });
    return { result, prompt };
  }

  for (const [one, other] of PAIRS)
    it(`is won by the fast one of ${one} and ${other} ${RACES} times, and the slow request is closed`, async () => {
      for (let number = 0; number < RACES; number++) {
        const [fast, slow] = number % 2 === 0 ? [one, other] : [other, one];
        const { result, prompt } = await run(fast, slow, number % 4 < 2);
        assertWon(result, fast, slow);
        const asked = models.askedAbout(prompt);
        assert.equal(asked.length, 2);
        const loser = asked.find(({ vendor }) => vendor === VENDORS[slow]);
        await models.closing(loser ?? assert.fail());
      }
    });

  it('cancels the other requests before the winning answer is recorded', async () => {
    const closed = async (about: string): Promise<unknown> => {
      const loser = models.askedAbout(about).find(({ vendor }) => vendor === 'gemini');
      return loser && models.closing(loser);
    };
    const { result } = await run('claude', 'gemini', false, closed);
    assertWon(result, 'claude', 'gemini');
  });
});

function assertWon({ winner, output, answers }: ModeResult, fast: AgentName, slow: AgentName): void {
  assert.equal(winner, fast);
  assert.equal(output, `It is ${fast}.`);
  const lost = answers.find(({ agent }) => agent === slow);
  assert.equal(lost?.kind === 'failed' ? lost.end : lost?.kind, 'aborted');
}
