/** Composes sessions and the queue of tasks. */
import { realtimeDatabase } from '../adapters/admin/realtimeDatabase.ts';
import { TaskQueueMirror } from '../adapters/database/taskQueueMirror.ts';
import { FirestoreArchiveReader } from '../adapters/firestore/archiveReader.ts';
import { FirestoreDiscoveryReader } from '../adapters/firestore/discoveryReader.ts';
import { FirestoreQueueReader } from '../adapters/firestore/queueReader.ts';
import { FirestoreTaskReader } from '../adapters/firestore/taskReader.ts';
import type { CoordinationPorts } from '../domain/coordination/ports.ts';
import { CoordinationService } from '../domain/coordination/service.ts';
import { TaskCreation } from '../domain/tasks/creation.ts';
import { TaskQueue } from '../domain/tasks/queue.ts';
import { TaskSweep } from '../domain/tasks/sweep.ts';
import type { Foundation } from './foundation.ts';

export function coordinationPorts({ database, documents }: Foundation) {
  return {
    tasks: new FirestoreTaskReader(database, documents),
    queue: new FirestoreQueueReader(database, documents),
    archive: new FirestoreArchiveReader(database),
    discoveries: new FirestoreDiscoveryReader(database, documents),
  };
}

export function coordinationServices(ports: CoordinationPorts) {
  return {
    coordination: new CoordinationService(ports),
    taskCreation: new TaskCreation(ports),
    taskQueue: new TaskQueue(ports),
    taskSweep: new TaskSweep(ports),
    taskQueueMirror: new TaskQueueMirror(realtimeDatabase, ports.tasks),
  };
}
