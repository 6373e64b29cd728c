/** Fixture: a workspace for one call whose commits lose their response, with a local GitHub and local models. */
import type { Firestore } from '@google-cloud/firestore';
import { type Composition, compose } from '../../../functions/src/composition/compose.ts';
import type { NodeRef } from '../../../functions/src/graph/rules/graphNode.ts';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { readWorkflow } from '../../../functions/src/toolsets/orchestration/rules/workflows/validation.ts';
import { externalServicesOf } from '../../support/externalServices.ts';
import { LocalGitHub } from '../../support/github/server.ts';
import type { Installation, Repo } from '../../support/github/state.ts';
import type { LossyConnection } from '../../support/lossyFirestore/connections.ts';
import { LocalModels } from '../../support/models/server.ts';
import { CodingTeam } from '../coding/calls.ts';
import { type TeamBindings, unkeyed } from '../coordination/team.ts';
import { agentsAt } from '../orchestration/fixture.ts';

const OWNER = 'sartor-ai';
const BUDGET = { tokens: 1_000_000, cost_usd: 10 };
const ONE_STEP = { name: 'one-step', steps: [{ name: 'only', agent: 'claude' }] };

/** Local servers for models and GitHub, which all scenarios share. */
export class Vendors {
  readonly models = new LocalModels();
  readonly gitHub = new LocalGitHub();
  private installation: Installation | undefined;

  async start(): Promise<void> {
    await Promise.all([this.models.start(), this.gitHub.start()]);
  }

  async stop(): Promise<void> {
    await Promise.all([this.models.stop(), this.gitHub.stop()]);
  }

  /** Creates a GitHub repository to which Muster may write. */
  repository(name: string): Repo {
    const { world: worldFixture } = this.gitHub;
    const repo = worldFixture.repository(OWNER, name);
    repo.push('main', { 'README.md': '# A repository\n' });
    repo.push('fix/retries', { 'README.md': '# A repository\n', 'src/retry.ts': 'export const MAX = 3;\n' });
    this.installation ??= worldFixture.install(OWNER);
    this.installation.repositories.add(repo.fullName);
    return repo;
  }
}

export class LostResponseFixture extends CodingTeam {
  readonly vendors: Vendors;
  readonly database: Firestore;
  /** Whether dispatched runs are lost. Otherwise, this process executes them. */
  losing = false;

  constructor(vendors: Vendors, database: Firestore) {
    super({ database, ...bindingsOf(vendors), dispatch: { dispatch: async (runId) => this.execute(runId) } });
    this.vendors = vendors;
    this.database = database;
  }

  /** Returns an instance of this deployment that sends its database requests through the lossy connection. */
  through({ database }: LossyConnection): Composition {
    return compose(
      externalServicesOf({
        ...bindingsOf(this.vendors),
        clock: { now: () => this.now },
        database,
        dispatch: { dispatch: async (runId) => this.execute(runId) },
      }),
    );
  }

  /** Executes a run at the instance `app`. This instance loses no responses. */
  private execute(runId: string): void {
    if (!this.losing) void this.app.services.runExecution.deliver({ runId });
  }

  /**
   * Deletes an agent's presence. Otherwise the effects of a sweep would be random, because the parts of a sweep run
   * concurrently and all scenarios share one Realtime Database.
   */
  async neverSeen(agentId: string): Promise<void> {
    await this.app.access.ports.presence.remove(agentId, this.now);
  }

  /** Creates a run of the leader that no instance has started. Returns its id. */
  async pendingRun(partOf?: NodeRef): Promise<string> {
    this.losing = true;
    const { runs, roster } = this.app.services.orchestration;
    const request = {
      workflow: readWorkflow(ONE_STEP, 'workflow'),
      input: 'Do it',
      context: {},
      budget: BUDGET,
      parallel: true,
      cache: false,
      situation: await roster.situation(this.workspace),
      part_of: partOf,
    };
    return (await runs.start(this.leader, this.workspace, request, unkeyed)).runId;
  }

  /** Creates a worker agent that holds this many tasks. */
  async holder(
    tasks = 1,
  ): Promise<{ readonly principal: Principal; readonly agent_id: string; readonly task_id: string }> {
    const principal = this.principal('ann');
    const agent_id = await this.join('ann');
    await this.allow(agent_id, tasks);
    await this.create(...Array.from({ length: tasks }, () => ({})));
    const claimed: string[] = [];
    for (let count = 0; count < tasks; count++) claimed.push(String(await this.claimBeside(agent_id, claimed)));
    return { principal, agent_id, task_id: String(claimed[0]) };
  }
}

function bindingsOf(vendors: Vendors): TeamBindings {
  return { gitHub: () => vendors.gitHub.asApp, hosted: () => agentsAt(vendors.models.url), budget: BUDGET };
}

export interface Prepared {
  readonly args: JsonObject;
  /** Caller of the tool, by default the leader. */
  readonly principal?: Principal;
  /** Returns the effects of the call outside Firestore. */
  readonly elsewhere?: () => unknown;
}

export interface Scenario {
  /** Full name of the tool, as in `coordination.create_task`. */
  readonly tool: string;
  readonly when: string;
  readonly prepare: (responseFixture: LostResponseFixture) => Promise<Prepared>;
}

type Entry = Scenario['prepare'] | Readonly<Record<string, Scenario['prepare']>>;

/** Returns the scenarios of a toolset: one scenario per tool, or several named scenarios. */
export function scenariosOf(toolset: string, tools: Readonly<Record<string, Entry>>): readonly Scenario[] {
  return Object.entries(tools).flatMap(([tool, entry]) => {
    const named = typeof entry === 'function' ? { '': entry } : entry;
    return Object.entries(named).map(([when, prepare]) => ({ tool: `${toolset}.${tool}`, when, prepare }));
  });
}
