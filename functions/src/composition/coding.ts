/** Composes coding tasks: what they are read by and watched with, and the services over that. */
import type { Services } from '../mcp/callContext.ts';
import { CodingChanges } from '../toolsets/coding/rules/changing.ts';
import { CodingService } from '../toolsets/coding/rules/coding.ts';
import type { CodingPorts } from '../toolsets/coding/rules/ports.ts';
import { CodingRunners } from '../toolsets/coding/rules/runners.ts';
import { CodingView } from '../toolsets/coding/rules/view.ts';
import { FirestoreTaskLogReader } from '../toolsets/coding/store/logs.ts';
import { FirestoreCodingTaskReader, FirestoreCodingWatch } from '../toolsets/coding/store/tasks.ts';
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
  { membership, taskCreation, taskClaims }: Pick<Services, 'membership' | 'taskCreation' | 'taskClaims'>,
) {
  return {
    coding: new CodingService(ports, taskCreation),
    codingChanges: new CodingChanges(ports, membership),
    codingRunners: new CodingRunners(ports, taskClaims, membership),
    codingView: new CodingView(ports),
  };
}
