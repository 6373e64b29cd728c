/** Runs whose commits lose their response. Each model call is paid once, and no step waits forever. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { accountOf } from '../../support/lossyFirestore/account.ts';
import { type LossyConnection, LossyConnections } from '../../support/lossyFirestore/connections.ts';
import { type Outcome, tryLosses } from '../../support/lossyFirestore/losses.ts';
import type { Loss } from '../../support/lossyFirestore/proxy.ts';
import { OrchestrationFixture } from '../orchestration/fixture.ts';

const LANES = 6;
const ALL = Number.POSITIVE_INFINITY;

/** Fields that vary from run to run: times, and token estimates, which depend on the characters in the run's id. */
const CHANCE = new Set(['milliseconds', 'input_tokens']);

const TWO_STEPS = {
  name: 'two',
  steps: [
    { name: 'one', agent: 'claude', prompt: 'ONE {{input}}' },
    { name: 'two', agent: 'gemini', prompt: 'TWO {{input}} {{steps.one.output}}' },
  ],
};

const BY_HAND = { name: 'by-hand', steps: [{ name: 'work', agent: 'network', prompt: 'WORK {{input}}' }] };

describe('an instance that loses the response of a commit', function () {
  this.timeout('2m');
  const fixture = new OrchestrationFixture();
  let connections: LossyConnections;
  before(async () => {
    firestore(); // Connects to the emulator.
    await fixture.start();
    connections = await LossyConnections.open(LANES);
  });
  after(async () => {
    await connections.close();
    await fixture.stop();
  });
  beforeEach(() => {
    fixture.losing = true;
  });

  for (const course of [
    { what: 'executes a run for models once', workflow: TWO_STEPS, questions: 2, status: 'succeeded' },
    { what: 'executes a run for live agents once', workflow: BY_HAND, questions: 0, status: 'waiting' },
  ])
    it(course.what, async () => {
      await connections.use((connection) => execute(connection, undefined, course)); // This run creates the session.
      const { problems } = await tryLosses(connections, ALL, (connection, loss) => execute(connection, loss, course));
      if (problems.length > 0) assert.fail(problems.join('\n'));
      fixture.assertAcceptable();
    });

  async function execute(
    connection: LossyConnection,
    loss: Loss | undefined,
    { workflow, questions, status }: { workflow: object; questions: number; status: string },
  ): Promise<Outcome> {
    const input = fixture.question();
    // A separate workspace, because outcomes are counted per workspace, and their number selects the bucket.
    const workspace = questions > 0 ? `${fixture.workspace}-${randomUUID()}` : fixture.workspace;
    const { runId } = await fixture.begin(workflow, { input }, fixture.app, workspace);
    const app = fixture.anotherInstance(undefined, connection.database);
    connection.proxy.begin(loss);
    const delivery = await app.services.runExecution.deliver({ runId });
    const { applied, sent, lost } = connection.proxy.seen;
    const { run, steps } = await fixture.view(runId);
    const asked = fixture.models.askedAbout(input).length;
    const learned = Object.values(await fixture.app.orchestration.ports.workRecords.find(workspace));
    const outcomes = learned.reduce((sum, kind) => sum + kind.outcomes, 0);
    const spent = steps.reduce((sum, step) => sum + step.spent.output_tokens, 0);
    const problems = [
      ...(delivery === 'done' ? [] : ['delivery not done']),
      ...(run.status === status ? [] : [`status ${run.status}: ${JSON.stringify(run.failure)}`]),
      ...(asked === questions ? [] : [`models were asked ${asked} times`]),
      ...(outcomes === questions ? [] : [`${outcomes} outcomes are counted`]),
      ...(run.spent.output_tokens === spent ? [] : [`${run.spent.output_tokens} tokens of ${spent} are recorded`]),
    ];
    const account = accountOf(
      { answer: [run.status, run.spent, run.steps_settled], written: applied },
      { place: workspace, chance: CHANCE },
    );
    return { problems, account, commits: sent, lost };
  }
});
