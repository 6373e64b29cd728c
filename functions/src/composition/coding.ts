/** Composes coding tasks: what they are read by and watched with, and the services over that. */
import { FirestoreCodingTaskReader } from '../adapters/firestore/codingTaskReader.ts';
import { FirestoreCodingWatch } from '../adapters/firestore/codingWatch.ts';
import { FirestoreTaskLogReader } from '../adapters/firestore/taskLogReader.ts';
import { CodingChanges } from '../domain/coding/changing.ts';
import type { CodingPorts } from '../domain/coding/ports.ts';
import { CodingRunners } from '../domain/coding/runners.ts';
import { CodingService } from '../domain/coding/service.ts';
import { CodingView } from '../domain/coding/view.ts';
import type { Services } from '../domain/services.ts';
import type { Foundation } from './foundation.ts';

export function codingPorts({ database, documents, log }: Foundation) {
  return {
    codingTasks: new FirestoreCodingTaskReader(database, documents),
    taskLogs: new FirestoreTaskLogReader(database, documents),
    codingWatch: new FirestoreCodingWatch(database, documents, log),
  };
}

export function codingServices(
  ports: CodingPorts,
  { membership, taskCreation, taskQueue }: Pick<Services, 'membership' | 'taskCreation' | 'taskQueue'>,
) {
  return {
    coding: new CodingService(ports, taskCreation),
    codingChanges: new CodingChanges(ports, membership),
    codingRunners: new CodingRunners(ports, taskQueue, membership),
    codingView: new CodingView(ports),
  };
}
