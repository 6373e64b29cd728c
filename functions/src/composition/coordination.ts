/** Composes sessions and the queue of tasks. */
import type { AgentLiveness } from '../access/rules/liveness.ts';
import { realtimeDatabase } from '../kernel/realtime/database.ts';
import { codingExpiry } from '../toolsets/coding/rules/changing.ts';
import { TaskClaims } from '../toolsets/coordination/rules/claims.ts';
import { CoordinationService } from '../toolsets/coordination/rules/coordination.ts';
import { TaskCreation } from '../toolsets/coordination/rules/creation.ts';
import { TaskSweep } from '../toolsets/coordination/rules/leases.ts';
import { AgentMembership } from '../toolsets/coordination/rules/membership.ts';
import type { CoordinationPorts } from '../toolsets/coordination/rules/ports.ts';
import { TaskQueue } from '../toolsets/coordination/rules/queue.ts';
import { ArchiveClearing } from '../toolsets/coordination/rules/sessions.ts';
import { FirestoreQueueReader } from '../toolsets/coordination/store/queue.ts';
import {
  FirestoreArchiveReader,
  FirestoreDiscoveryReader,
  FirestoreSessionReader,
} from '../toolsets/coordination/store/sessions.ts';
import { TaskQueueMirror } from '../toolsets/coordination/store/taskQueueMirror.ts';
import { FirestoreTaskReader } from '../toolsets/coordination/store/tasks.ts';
import type { Foundation } from './foundation.ts';

export function coordinationPorts({ database, documents }: Foundation) {
  return {
    tasks: new FirestoreTaskReader(database, documents),
    queue: new FirestoreQueueReader(database, documents),
    sessions: new FirestoreSessionReader(database, documents),
    archive: new FirestoreArchiveReader(database),
    discoveries: new FirestoreDiscoveryReader(database, documents),
  };
}

export function coordinationServices(ports: CoordinationPorts, liveness: AgentLiveness) {
  const archiveClearing = new ArchiveClearing(ports);
  return {
    archiveClearing,
    membership: new AgentMembership(ports, (agentId) => liveness.revive(agentId)),
    coordination: new CoordinationService(ports, archiveClearing),
    taskCreation: new TaskCreation(ports),
    taskClaims: new TaskClaims(ports),
    taskQueue: new TaskQueue(ports),
    taskSweep: new TaskSweep(ports, codingExpiry(ports.sessions)),
    taskQueueMirror: new TaskQueueMirror(realtimeDatabase, ports.tasks),
  };
}
