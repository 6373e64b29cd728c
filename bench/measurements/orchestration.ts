/** Compares the time of a run's step with a bare call and commit, and of a race with a run of its faster agent. */
import { randomUUID } from 'node:crypto';
import { Anthropic } from '@anthropic-ai/sdk';
import { type Composition, compose } from '../../functions/src/composition/compose.ts';
import { externalServices } from '../../functions/src/composition/externalServices.ts';
import { DEFAULT_WORKSPACE } from '../../functions/src/identity/rules/principal.ts';
import { firestore } from '../../functions/src/kernel/firestore/client.ts';
import { runCallsPath, runPath, runStepsPath } from '../../functions/src/kernel/firestore/paths.ts';
import { isEnded } from '../../functions/src/toolsets/orchestration/rules/runs/run.ts';
import { readWorkflow } from '../../functions/src/toolsets/orchestration/rules/workflows/validation.ts';
import { startLocalService } from '../../scripts/emulators/localService.mjs';
import { agentsAt, fileWith } from '../../test/support/models/agents.ts';
import { RemoteModels } from '../../test/support/models/remote.ts';
import { agentOf } from '../../test/support/principals.ts';
import { type Measurement, spread } from '../measurement.ts';
import { alternate, ratioOf, type Schedule } from '../rounds.ts';

const SCHEDULE: Schedule = { warmUps: 2, rounds: 11 };
const [STEPS, ROUNDS] = [5, 10];

/** Typical time in which a model answers a short question. */
const FAST_MS = 500;
const MODEL = 'claude-local';

/** Returns a workflow that repeats its steps. */
function repeated(max: number): object {
  const agent = 'claude';
  const steps = Array.from({ length: STEPS }, (_, index) => ({
    name: `step${index}`,
    agent,
    prompt: `${index} {{input}}`,
  }));
  return { name: 'bench-steps', steps: [{ repeat: { until: 'false', max }, steps }] };
}

const alone = { name: 'bench-alone', steps: [{ name: 'answer', agent: 'claude' }] };
const race = { name: 'bench-race', steps: [{ name: 'answer', agents: ['claude', 'gemini'], mode: 'race' }] };

export async function measureOrchestration(): Promise<Measurement[]> {
  const url = await startModels();
  return [await measureStep(url), await measureRace(url)];
}

/** The model answers immediately, so that only Muster's work is measured. */
async function measureStep(url: string): Promise<Measurement> {
  const runs = runsAt(url);
  const bare = new Anthropic({ apiKey: 'local', baseURL: url, maxRetries: 0 });
  const documents = await documentsOf(await runs(repeated(1), 'at once'));
  const short: number[] = [];
  const call: number[] = [];
  const milliseconds = await alternate(
    SCHEDULE,
    async () => {
      short.push((await timed(() => runs(repeated(1), 'at once'))) / STEPS);
      return (await timed(() => runs(repeated(ROUNDS), 'at once'))) / STEPS / ROUNDS;
    },
    async () => {
      call.push((await timed(() => bareSteps(bare, []))) / STEPS);
      return (await timed(() => bareSteps(bare, documents))) / STEPS;
    },
  );
  return {
    name: 'orchestration.step',
    title: `A step of a run of ${STEPS * ROUNDS}, with a model that answers immediately, compared with a bare streamed call of the SDK and a bare commit of the same documents`,
    ratio: ratioOf(milliseconds),
    figures: {
      'ms per step': spread(milliseconds.ours),
      [`ms per step of a run of ${STEPS}`]: spread(short.slice(SCHEDULE.warmUps)),
      'ms per bare call and commit': spread(milliseconds.baseline),
      'ms per bare call': spread(call.slice(SCHEDULE.warmUps)),
    },
    figureTargets: { 'ms per step': { kind: 'at most', value: 8 } },
    reason:
      "A step waits for one read of the budgets that apply to its call, one commit and the call. The emulator, the local model and the two listeners of the run use the same processor. Muster's own code takes a small part of the time. Next step: read the budgets while the start of the call is being committed.",
  };
}

/** Compares two whole runs: a race in which only one of two agents answers, and a run of only that agent. */
async function measureRace(url: string): Promise<Measurement> {
  const runs = runsAt(url);
  const models = new RemoteModels(url);
  const about = `race ${randomUUID()}`;
  await models.when({ vendor: 'anthropic', text: about }, { does: 'answer', afterMs: FAST_MS });
  await models.when({ vendor: 'gemini', text: about }, { does: 'hang' });
  const milliseconds = await alternate(
    SCHEDULE,
    () => timed(() => runs(race, about)),
    () => timed(() => runs(alone, about)),
  );
  return {
    name: 'orchestration.race',
    title: 'A run that races two agents, compared with a run of only the faster agent',
    ratio: ratioOf(milliseconds),
    target: { kind: 'at most', value: 1.2 },
    figures: { ms: spread(milliseconds.ours), 'ms of a run of only the faster agent': spread(milliseconds.baseline) },
  };
}

/** Returns a function that executes a run in this process. A deployment executes runs through Cloud Tasks. */
function runsAt(url: string) {
  const file = fileWith({ claude: MODEL, gemini: 'gemini-local' }, { input: 1, output: 1 });
  const agents = agentsAt(url, { file });
  const app: Composition = compose({
    ...externalServices(),
    rateLimit: undefined,
    push: undefined,
    clock: { now: () => new Date() },
    hosted: () => agents,
    dispatch: {
      dispatch: async (runId) => {
        void app.services.runExecution.deliver({ runId });
      },
    },
  });
  const owner = `bench-${randomUUID()}`;
  const principal = agentOf(owner, owner, 'worker');
  const joined = app.kernel.store.commit([{ kind: 'setPerson', uid: owner, role: 'worker' }]);
  return async (workflow: object, input: string): Promise<string> => {
    await joined;
    const { runs, roster } = app.services.orchestration;
    const { runId } = await runs.start(
      principal,
      DEFAULT_WORKSPACE,
      {
        input,
        context: {},
        parallel: true,
        cache: false,
        workflow: readWorkflow(workflow, 'workflow'),
        budget: { tokens: 1_000_000, cost_usd: 100 },
        situation: await roster.situation(DEFAULT_WORKSPACE),
      },
      () => undefined,
    );
    for await (const run of app.orchestration.ports.runs.watch(runId, new AbortController().signal)) {
      if (!isEnded(run)) continue;
      if (run.status !== 'succeeded') throw new Error(`The run has ${run.status}.`);
      break;
    }
    return runId;
  };
}

/** Returns the documents that a step of this run writes: the run, the step, its call, and the start of a call. */
async function documentsOf(runId: string): Promise<readonly object[]> {
  const first = (path: string) => firestore().collection(path).limit(1).get();
  const [step, call] = await Promise.all([first(runStepsPath(runId)), first(runCallsPath(runId))]);
  const run = await firestore().doc(runPath(runId)).get();
  return [run, ...step.docs, ...call.docs, ...call.docs].map((document) => document.data() ?? {});
}

/** Makes bare calls, and commits the documents after each call. */
async function bareSteps(client: Anthropic, documents: readonly object[]): Promise<void> {
  for (let number = 0; number < STEPS; number++) {
    const messages = [{ role: 'user' as const, content: `${number} at once` }];
    await client.messages.stream({ model: MODEL, max_tokens: 1000, messages }).finalText();
    const batch = firestore().batch();
    for (const [index, document] of documents.entries()) batch.set(firestore().doc(`bench/${index}`), document);
    if (documents.length > 0) await batch.commit();
  }
}

/** Starts the local models in a separate process that ends when the benchmark ends. */
async function startModels(): Promise<string> {
  const output = { file: '', tail: () => '', line: () => {} };
  const parameters = await startLocalService('models', { node: process.execPath, env: {}, output });
  return parameters['ANTHROPIC_BASE_URL'] ?? '';
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
