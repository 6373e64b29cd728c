import type { OwnerRoles } from '../../access/rules/leaving.ts';
import type { AccessPorts } from '../../access/rules/ports.ts';
import type { AgentLiveness } from '../../agents/rules/liveness.ts';
import type { GraphPorts } from '../../graph/rules/linking.ts';
import type { BudgetPorts } from '../../graph/rules/ports.ts';
import type { AnyChange, Store } from '../../kernel/commit.ts';
import type { DocumentSource } from '../../kernel/firestore/reading.ts';
import { BoundedMap } from '../../kernel/memoCache.ts';
import type { PortOf } from '../../kernel/ports.ts';
import type { realtimeDatabase } from '../../kernel/realtime/database.ts';
import { type BudgetWaitPorts, BudgetWaits } from './rules/budgetWait.ts';
import { TaskClaims } from './rules/claims.ts';
import { CoordinationService } from './rules/coordination.ts';
import { TaskCreation } from './rules/creation.ts';
import { FileWaits } from './rules/files/fileWaits.ts';
import { type CodingExpiry, TaskSweep } from './rules/leases.ts';
import { AgentMembership } from './rules/membership.ts';
import { AgentMessages } from './rules/messages.ts';
import { SessionSharding } from './rules/openSession.ts';
import { CodingLostAccess } from './rules/ownerless.ts';
import type { CoordinationChange, CoordinationPorts, SessionQueries } from './rules/ports.ts';
import { checkedTaskOf, Proofs } from './rules/proof/proofs.ts';
import { sessionFields } from './rules/session.ts';
import { isUnsettled, StuckTasks } from './rules/stuck.ts';
import { taskFields } from './rules/task.ts';
import { TaskActions } from './rules/taskActions.ts';
import { taskNodeFinder } from './rules/taskChanges.ts';
import { TaskQueue } from './rules/taskProgress.ts';
import { TaskUpdates } from './rules/taskUpdates.ts';
import { SessionUndo, TaskUndo } from './rules/undoTasks.ts';
import { TaskProgressExplainer } from './rules/waitReasons.ts';
import { FirestoreHeldFilesQueries } from './store/heldFiles.ts';
import { FirestoreMailboxQueries, FirestoreTaskQueries } from './store/queries.ts';
import { FirestoreQueueQueries, mirrorQueuedTask } from './store/queue.ts';
import { FirestoreSessionQueries, type ShardCounts } from './store/sessions.ts';

/** `Change`: type of the additional changes that a commit may contain if it creates tasks. */
export interface CoordinationDependencies<Change extends AnyChange> extends DocumentSource {
  readonly access: AccessPorts;
  readonly graph: GraphPorts & BudgetPorts;
  readonly store: Store<CoordinationChange | Change>;
  readonly realtime: typeof realtimeDatabase;
  /** Shard counts of the sessions that this instance has read; the writers of changes use the same object. */
  readonly shardCounts: ShardCounts;
  readonly liveness: AgentLiveness;
  readonly ownerRoles: OwnerRoles;
  readonly askToRaise: BudgetWaitPorts['askToRaise'];
  readonly codingExpiry: (sessions: SessionQueries) => CodingExpiry;
}

/** Maximum number of tasks that an instance keeps after it has written them. A task has up to some 100 kB. */
const MAX_WRITTEN_TASKS = 200;

/** Creates the services of the task queue: sessions, claims, leases and messages. */
export function createCoordination<Change extends AnyChange>(dependencies: CoordinationDependencies<Change>) {
  const { database, documents, access, graph, store, realtime, shardCounts } = dependencies;
  const { liveness, ownerRoles, askToRaise, codingExpiry } = dependencies;
  const tasks = new FirestoreTaskQueries(database, documents);
  const ports: CoordinationPorts & BudgetPorts = {
    ...access,
    ...graph,
    store,
    tasks,
    queue: new FirestoreQueueQueries(database, documents, access.log),
    sessions: new FirestoreSessionQueries(database, documents, shardCounts),
    mailboxes: new FirestoreMailboxQueries(database, documents),
    heldFiles: new FirestoreHeldFilesQueries(database, documents),
    writtenTasks: new BoundedMap(MAX_WRITTEN_TASKS),
  };
  const messages = new AgentMessages(ports);
  const stuckTasks = new StuckTasks(ports);
  const proofs = new Proofs(ports);
  const fileWaits = new FileWaits(ports);
  const taskCreation: PortOf<TaskCreation<CoordinationChange | Change>> = new TaskCreation({ ...ports, store });
  const undoing = { ...ports, taskFields, sessionFields };
  const services = {
    liveness,
    membership: new AgentMembership({ ...ports, liveness, messages }),
    messages,
    coordination: new CoordinationService(ports),
    taskCreation,
    taskClaims: new TaskClaims({ ...ports, ownerRoles, messages, askToRaise }),
    taskQueue: new TaskQueue(ports),
    taskLevers: new TaskActions(ports),
    taskUpdates: new TaskUpdates(ports),
    stuckTasks,
    proofs,
    taskSweep: new TaskSweep({ ...ports, coding: codingExpiry(ports.sessions) }),
    sessionSpreading: new SessionSharding(ports),
    mirrorQueuedTask: (taskId: string, before?: unknown) => mirrorQueuedTask(realtime, tasks, taskId, before),
    /** Updates the dependents of a task, if the written task document requires it. */
    settleTask: async (taskId: string, written: unknown): Promise<void> => {
      if (isUnsettled(written)) await stuckTasks.settle(taskId);
      const checked = checkedTaskOf(written);
      if (checked !== undefined) await proofs.look(checked);
    },
    fileWaits,
  };
  return {
    ports,
    node: taskNodeFinder(tasks),
    inverses: { task: new TaskUndo(undoing).task, session: new SessionUndo(undoing).session },
    codingLeaving: new CodingLostAccess(ports),
    budgetWaits: new BudgetWaits(ports),
    explain: new TaskProgressExplainer(ports).explain,
    services,
  };
}

export type CoordinationServices = ReturnType<typeof createCoordination<never>>['services'];
