import type { AgentLiveness } from '../../agents/rules/liveness.ts';
import type { BudgetPorts } from '../../graph/rules/ports.ts';
import type { AnyChange, Store } from '../../kernel/commit.ts';
import { probeFirestore } from '../../kernel/firestore/client.ts';
import type { DocumentSource } from '../../kernel/firestore/reading.ts';
import type { UnreadableDocuments } from '../../kernel/ports.ts';
import { probeRealtimeDatabase, type realtimeDatabase } from '../../kernel/realtime/database.ts';
import type { CoordinationChange } from '../coordination/index.ts';
import type { GitHubPorts } from '../github/index.ts';
import { AuditLog } from './rules/audit.ts';
import { Budgets } from './rules/budgets.ts';
import { AgentOverview, findSkillsWith } from './rules/directory.ts';
import { RecentCalls } from './rules/metrics.ts';
import type { SystemPorts } from './rules/ports.ts';
import { SystemStatus } from './rules/status.ts';
import { TaskOverview } from './rules/taskOverview.ts';
import { Trees } from './rules/tree.ts';
import { type UndoHandler, UndoService } from './rules/undo.ts';
import { DatabaseMetricsReader, FirestoreSweepRecord, ProcessGauge } from './store/metrics.ts';
import { FirestoreAuditLogQueries, FirestoreSkillQueries } from './store/queries.ts';

/** `Change`: the changes, other than those of tasks, that this deployment can undo. */
export interface SystemDependencies<Change extends AnyChange> extends DocumentSource {
  readonly gitHub: GitHubPorts & BudgetPorts;
  readonly store: SystemPorts['store'] & Store<CoordinationChange | Change>;
  readonly realtime: typeof realtimeDatabase;
  readonly unreadable: UnreadableDocuments;
  readonly liveness: AgentLiveness;
  /** Functions that undo changes, by the kind of the changed item. */
  readonly inverses: Readonly<Record<string, UndoHandler<CoordinationChange | Change>>>;
  /** Version of this deployment, such as `1.0.0`. */
  readonly version: string;
}

/** Reasons why changes of these kinds of items cannot be undone. */
const IRREVERSIBLE_KINDS = {
  agent: 'Agents stay registered; access.revoke_connection revokes their credentials.',
  connection: "The credential's secret is not stored. Connect the agent or app again.",
  discovery: 'Other agents may have read the finding. Add another finding that corrects it.',
  external: 'The change is on GitHub, where people may have seen it. Revert the change on GitHub.',
  invitation:
    'The email has been sent. access.withdraw_invitation ends a pending invitation, access.remove_member a membership.',
  message: 'The agent may have read the message. Send another message.',
  pull_request: 'The pull request is on GitHub, where people may have seen it. Close the pull request on GitHub.',
  run: 'Model calls of the run have already been paid. orchestration.cancel_run stops the rest of the run.',
  subscription: 'Events of an ended subscription are deleted. Use firebase.subscribe or firebase.unsubscribe instead.',
};

/** Creates the services behind the system tools: agents, tasks, budgets, audit log and health. */
export function createSystem<Change extends AnyChange>(dependencies: SystemDependencies<Change>) {
  const { database, documents, gitHub, store, realtime, unreadable, liveness, inverses, version } = dependencies;
  const ports: SystemPorts & BudgetPorts = {
    ...gitHub,
    store,
    unreadable,
    skills: new FirestoreSkillQueries(database, documents),
    metricsReader: new DatabaseMetricsReader({ database: realtime, unreadable }),
    sweepRecord: new FirestoreSweepRecord({ database, sweep: 'main', log: gitHub.log }),
    probes: { firestore: () => probeFirestore(database), realtimeDatabase: () => probeRealtimeDatabase(realtime) },
  };
  const trail = new FirestoreAuditLogQueries(database, documents);
  const tasks = new TaskOverview({ ...ports, liveness });
  const budgets = new Budgets(ports);
  const undoing = new UndoService<CoordinationChange | Change>({
    ...ports,
    store,
    trail,
    inverses: { ...inverses, budget: budgets.inverse },
    irrevocable: IRREVERSIBLE_KINDS,
  });
  const services = {
    system: {
      overview: new AgentOverview(ports),
      tasks,
      trees: new Trees(ports),
      budgets,
      findSkills: findSkillsWith(ports.skills),
      status: new SystemStatus({ ...ports, workQueue: tasks }),
      recentCalls: new RecentCalls(ports),
      audit: new AuditLog({ ...ports, trail }),
      undoing,
      gauge: new ProcessGauge(),
      version,
    },
  };
  const repeatsRecord = new FirestoreSweepRecord({ database, sweep: 'repeats', log: gitHub.log });
  return { ports, trail, repeatsRecord, services };
}

export type SystemServices = ReturnType<typeof createSystem<AnyChange>>['services'];
