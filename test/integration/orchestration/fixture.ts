/** Fixture: an owner of runs, with the real services, the emulators and local models. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { NO_ROUTING } from '../../../functions/src/access/rules/workspace.ts';
import { type Composition, compose } from '../../../functions/src/composition/compose.ts';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import type { HostedAgent } from '../../../functions/src/toolsets/orchestration/rules/agents/model.ts';
import type { RunRequest } from '../../../functions/src/toolsets/orchestration/rules/runs/order.ts';
import { isEnded, type Run } from '../../../functions/src/toolsets/orchestration/rules/runs/run.ts';
import type { StartedRun } from '../../../functions/src/toolsets/orchestration/rules/runs/runService.ts';
import type { RunView } from '../../../functions/src/toolsets/orchestration/rules/runs/visibility.ts';
import { readWorkflow } from '../../../functions/src/toolsets/orchestration/rules/workflows/validation.ts';
import { externalServicesOf, type Replaced } from '../../support/externalServices.ts';
import { fileWith, agentsAt as hostedAgentsAt } from '../../support/models/agents.ts';
import { LocalModels } from '../../support/models/server.ts';
import { agentOf } from '../../support/principals.ts';

/** Argument for services in place of an idempotency key, for calls without a key. */
export const unkeyed = (): undefined => undefined;

/** Five steps, each of which uses the result of the previous one. */
export const FIVE_STEPS = {
  name: 'five',
  steps: [
    { name: 'one', agent: 'claude', prompt: 'ONE {{input}}' },
    { name: 'two', agent: 'gemini', prompt: 'TWO {{input}} {{steps.one.output}}' },
    { name: 'three', agent: 'claude', prompt: 'THREE {{input}} {{steps.two.output}}' },
    { name: 'four', agent: 'gemini', prompt: 'FOUR {{input}} {{steps.three.output}}' },
    { name: 'five', agent: 'claude', prompt: 'FIVE {{input}} {{steps.four.output}}' },
  ],
};

/** Returns the hosted agents of a deployment that calls the models at this URL. */
export function agentsAt(url: string): readonly HostedAgent[] {
  const file = fileWith({ claude: 'claude-local', gemini: 'gemini-local' }, { input: 1, output: 5 });
  return hostedAgentsAt(url, { file });
}

export class OrchestrationFixture {
  readonly owner = `owner-${randomUUID()}`;
  readonly workspace = `ws-${randomUUID().slice(0, 13)}`;
  readonly models = new LocalModels();
  /** Ids of dispatched runs, in order. */
  readonly dispatched: string[] = [];
  /** Whether dispatched runs are lost. Otherwise, this process executes them. */
  losing = false;
  readonly app: Composition;
  private readonly deliveries = new Set<Promise<unknown>>();

  private readonly hosted: (url: string) => readonly HostedAgent[];

  /** @param hosted returns the agents of the deployment, which calls the models at this URL */
  constructor(hosted = agentsAt) {
    this.hosted = hosted;
    this.app = this.anotherInstance();
  }

  /** Returns another instance of the same deployment, which executes the runs that it dispatches. */
  anotherInstance(now = () => new Date(), database?: Replaced['database']): Composition {
    const app: Composition = compose(
      externalServicesOf({
        clock: { now },
        database,
        hosted: () => this.hosted(this.models.url),
        dispatch: {
          dispatch: async (runId) => {
            this.dispatched.push(runId);
            if (!this.losing) this.deliver(runId, app);
          },
        },
      }),
    );
    return app;
  }

  async start(): Promise<void> {
    await this.models.start();
    await this.app.kernel.store.commit([{ kind: 'setPerson', uid: this.owner, role: 'leader' }]);
  }

  async stop(): Promise<void> {
    await Promise.all(this.deliveries);
    await this.models.stop();
  }

  /** Delivers a run to an instance as Cloud Tasks does. Repeats this while another instance executes the run. */
  deliver(runId: string, app = this.app): Promise<void> {
    const delivery = this.untilDone(runId, app);
    this.deliveries.add(delivery);
    return delivery.finally(() => this.deliveries.delete(delivery));
  }

  private async untilDone(runId: string, app: Composition): Promise<void> {
    while ((await app.services.runExecution.deliver({ runId })) === 'busy')
      await new Promise((resolve) => setTimeout(resolve, 50));
  }

  get principal(): Principal {
    return agentOf(this.owner, this.owner, 'worker');
  }

  request(workflow: object, changed: Partial<RunRequest> = {}): RunRequest {
    return {
      workflow: readWorkflow(workflow, 'workflow'),
      input: this.question(),
      context: {},
      budget: { tokens: 1_000_000, cost_usd: 10 },
      parallel: true,
      cache: false,
      situation: {
        workspace: this.workspace,
        agentStatuses: this.app.services.orchestration.roster.agentStatuses(),
        routing: NO_ROUTING,
        work: {},
      },
      ...changed,
    };
  }

  /** Returns a prompt that no other test uses. */
  question(): string {
    return `question ${randomUUID()}`;
  }

  begin(
    workflow: object,
    changed: Partial<RunRequest> = {},
    app = this.app,
    workspace = this.workspace,
  ): Promise<StartedRun> {
    const request = this.request(workflow, changed);
    return app.services.orchestration.runs.start(this.principal, workspace, request, unkeyed);
  }

  /** Waits until the run has ended, and returns it. */
  async ended(runId: string): Promise<RunView> {
    await this.until(runId, isEnded);
    return this.view(runId);
  }

  /** Waits until the run meets the condition, and returns it. */
  async until(runId: string, isSo: (run: Run) => boolean): Promise<Run> {
    for await (const run of this.app.orchestration.ports.runs.watch(runId, new AbortController().signal)) {
      if (isSo(run)) return run;
    }
    throw new Error('The watch has ended.');
  }

  view(runId: string): Promise<RunView> {
    return this.app.services.orchestration.runs.view(this.principal, runId);
  }

  async run(workflow: object, changed: Partial<RunRequest> = {}): Promise<RunView> {
    return this.ended((await this.begin(workflow, changed)).runId);
  }

  journal(runId: string, step: string) {
    return this.app.orchestration.ports.runs.journal(runId, `${step}.1`);
  }

  /** Asserts that every request to a model was valid for its vendor. */
  assertAcceptable(): void {
    assert.deepEqual(this.models.problems, []);
  }
}
