/** Every reader of the Firestore adapters, and a call of each of its methods in each of its variants. */

import type { Firestore } from '@google-cloud/firestore';
import type { Page } from '../../../functions/src/domain/readers.ts';
import { cloudLog } from '../../../functions/src/logging.ts';

/** Modules are loaded apart from everybody else's: what others call does not count as called here. */
export const APART = '?read-for-indexes';

const adapters = new URL('../../../functions/src/adapters/firestore/', import.meta.url);

type AgentReaders = typeof import('../../../functions/src/adapters/firestore/agentReader.ts');
type DiscoveryReaders = typeof import('../../../functions/src/adapters/firestore/discoveryReader.ts');
type TaskReaders = typeof import('../../../functions/src/adapters/firestore/taskReader.ts');

const FIRST: Page = { limit: 2 };
const NEXT: Page = { limit: 2, after: { at: new Date(1), id: 'id-1' } };
const [SESSION, NOW] = ['session-1', new Date()];

type Call = (database: Firestore) => Promise<unknown>;

/** By file, so that one without calls stands out. */
export const calls: Readonly<Record<string, readonly Call[]>> = {
  'agentReader.ts': await agentCalls(),
  'discoveryReader.ts': await discoveryCalls(),
  'taskReader.ts': await taskCalls(),
};

async function agentCalls(): Promise<readonly Call[]> {
  const { FirestoreAgentReader }: AgentReaders = await load('agentReader.ts');
  return [
    (database) => new FirestoreAgentReader(database).find('agent-1'),
    (database) => new FirestoreAgentReader(database).credentials('agent-1'),
    (database) => new FirestoreAgentReader(database).findWithAgent('key-1'),
  ];
}

async function discoveryCalls(): Promise<readonly Call[]> {
  const { FirestoreDiscoveryReader }: DiscoveryReaders = await load('discoveryReader.ts');
  return [
    (database) => new FirestoreDiscoveryReader(database).list(SESSION, undefined, FIRST),
    (database) => new FirestoreDiscoveryReader(database).list(SESSION, ['api'], NEXT),
    (database) => new FirestoreDiscoveryReader(database).list(SESSION, ['api', 'tests'], FIRST),
  ];
}

async function taskCalls(): Promise<readonly Call[]> {
  const { FirestoreTaskReader }: TaskReaders = await load('taskReader.ts');
  const keys = Array.from({ length: 31 }, (_unused, index) => `key-${index}`);
  return [
    (database) => new FirestoreTaskReader(database, cloudLog).find('task-1'),
    (database) => new FirestoreTaskReader(database, cloudLog).findAll([]),
    (database) => new FirestoreTaskReader(database, cloudLog).findAll(['task-1', 'task-2']),
    (database) => new FirestoreTaskReader(database, cloudLog).claimable(SESSION, ['key-1'], 5),
    (database) => new FirestoreTaskReader(database, cloudLog).claimable(SESSION, ['key-1', 'key-2'], 5),
    (database) => new FirestoreTaskReader(database, cloudLog).claimable(SESSION, keys, 5),
    (database) => new FirestoreTaskReader(database, cloudLog).firstBackoff(SESSION),
    (database) => new FirestoreTaskReader(database, cloudLog).list(SESSION, undefined, FIRST),
    (database) => new FirestoreTaskReader(database, cloudLog).list(SESSION, ['done'], NEXT),
    (database) => new FirestoreTaskReader(database, cloudLog).list(SESSION, ['done', 'failed'], FIRST),
    (database) => new FirestoreTaskReader(database, cloudLog).listDone(SESSION, FIRST),
    (database) => new FirestoreTaskReader(database, cloudLog).listDone(SESSION, NEXT),
    (database) => new FirestoreTaskReader(database, cloudLog).lapsed(NOW, 5),
    (database) => new FirestoreTaskReader(database, cloudLog).backedOff(NOW, 5),
  ];
}

function load<Module>(file: string): Promise<Module> {
  return import(new URL(`${file}${APART}`, adapters).href);
}
