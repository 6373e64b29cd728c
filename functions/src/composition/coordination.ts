/** Composes sessions and the queue of tasks. */
import type { AgentLiveness } from '../access/rules/liveness.ts';
import { realtimeDatabase } from '../kernel/realtime/database.ts';
import { CoordinationService } from '../toolsets/coordination/rules/coordination.ts';
import { TaskCreation } from '../toolsets/coordination/rules/creation.ts';
import { TaskSweep } from '../toolsets/coordination/rules/leases.ts';
import { AgentMembership } from '../toolsets/coordination/rules/membership.ts';
import type { CoordinationPorts } from '../toolsets/coordination/rules/ports.ts';
import { TaskQueue } from '../toolsets/coordination/rules/queue.ts';
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
  return {
    membership: new AgentMembership(ports, (agentId) => liveness.revive(agentId)),
    coordination: new CoordinationService(ports),
    taskCreation: new TaskCreation(ports),
    taskQueue: new TaskQueue(ports),
    taskSweep: new TaskSweep(ports),
    taskQueueMirror: new TaskQueueMirror(realtimeDatabase, ports.tasks),
  };
}
