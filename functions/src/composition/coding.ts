/** Composes coding tasks: what they are read by and watched with, and the services over that. */
import type { Firestore } from '../adapters/firestore/client.ts';
import { FirestoreCodingTaskReader } from '../adapters/firestore/codingTaskReader.ts';
import { FirestoreCodingWatch } from '../adapters/firestore/codingWatch.ts';
import type { DocumentReading } from '../adapters/firestore/reading.ts';
import { FirestoreTaskLogReader } from '../adapters/firestore/taskLogReader.ts';
import { CodingChanges, type CodingChangesDependencies } from '../domain/coding/changing.ts';
import { CodingRunners, type CodingRunnersDependencies } from '../domain/coding/runners.ts';
import { type CodingDependencies, CodingService } from '../domain/coding/service.ts';
import { CodingView, type CodingViewDependencies } from '../domain/coding/view.ts';
import type { Log } from '../domain/ports.ts';

export function codingPorts(database: Firestore, documents: DocumentReading, log: Log) {
  return {
    codingTasks: new FirestoreCodingTaskReader(database, documents),
    taskLogs: new FirestoreTaskLogReader(database, documents),
    codingWatch: new FirestoreCodingWatch(database, documents, log),
  };
}

export function codingServices(
  ports: CodingDependencies & CodingChangesDependencies & CodingRunnersDependencies & CodingViewDependencies,
) {
  return {
    coding: new CodingService(ports),
    codingChanges: new CodingChanges(ports),
    codingRunners: new CodingRunners(ports),
    codingView: new CodingView(ports),
  };
}
