import type { OwnerRoles } from '../../access/rules/leaving.ts';
import type { AgentLiveness } from '../../agents/rules/liveness.ts';
import type { BudgetPorts } from '../../graph/rules/ports.ts';
import type { Store } from '../../kernel/commit.ts';
import type { DocumentSource } from '../../kernel/firestore/reading.ts';
import type { PortOf } from '../../kernel/ports.ts';
import type {
  AgentMembership,
  AgentMessages,
  CoordinationPorts,
  Proofs,
  TaskClaims,
  TaskCreation,
} from '../coordination/index.ts';
import { CodingChanges } from './rules/changing.ts';
import { CodingService } from './rules/coding.ts';
import type { CodingChange } from './rules/ports.ts';
import { CodingRunners } from './rules/runners.ts';
import type { CodingPorts } from './rules/task.ts';
import { FirestoreTaskLogQueries } from './store/logs.ts';
import { FirestoreCodingTaskQueries } from './store/tasks.ts';

export interface CodingDependencies extends DocumentSource {
  readonly coordination: CoordinationPorts & BudgetPorts;
  readonly store: Store<CodingChange>;
  readonly liveness: AgentLiveness;
  readonly ownerRoles: OwnerRoles;
  readonly membership: AgentMembership;
  readonly messages: AgentMessages;
  readonly taskClaims: TaskClaims;
  readonly proofs: Proofs;
  readonly taskCreation: PortOf<TaskCreation>;
}

/** Creates the services for coding tasks and their runners. */
export function createCoding(dependencies: CodingDependencies) {
  const { database, documents, coordination, membership, ...given } = dependencies;
  const ports: CodingPorts = {
    ...coordination,
    ...given,
    codingTasks: new FirestoreCodingTaskQueries(database, documents, coordination.log),
    taskLogs: new FirestoreTaskLogQueries(database, documents),
  };
  const services = {
    coding: new CodingService(ports),
    codingChanges: new CodingChanges(ports),
    codingRunners: new CodingRunners(ports),
    membership,
  };
  return { ports, services };
}

export type CodingServices = ReturnType<typeof createCoding>['services'];
