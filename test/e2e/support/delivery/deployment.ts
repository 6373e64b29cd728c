/**
 * Muster's built functions, each in a process as on Cloud Run. They use a separate project of the emulators. It has
 * no triggers, so that functions receive only the events that the test delivers.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { Firestore, type Transaction } from '@google-cloud/firestore';
import { deleteApp, initializeApp } from 'firebase-admin/app';
import { type FunctionServer, musterFunction, serveFunction } from '../../../../bench/servers/functionServer.ts';
import { changeEffects, changeLoosening, changeWriters } from '../../../../functions/src/composition/changes.ts';
import { FirestoreStore } from '../../../../functions/src/kernel/firestore/store.ts';
import { simulatedClock, systemHashing, systemRandomness } from '../../../../functions/src/kernel/platform.ts';
import type { TodoPorts } from '../../../../functions/src/toolsets/todo/rules/ports.ts';
import { RecurringTasks } from '../../../../functions/src/toolsets/todo/rules/recurring/recurringTasks.ts';
import { TodoService } from '../../../../functions/src/toolsets/todo/rules/todos.ts';
import { FirestoreTaskHistory } from '../../../../functions/src/toolsets/todo/store/events.ts';
import { FirestoreNotifications } from '../../../../functions/src/toolsets/todo/store/notifications.ts';
import { FirestoreRecurringTaskQueries } from '../../../../functions/src/toolsets/todo/store/reminders.ts';
import { FirestoreTodoQueries } from '../../../../functions/src/toolsets/todo/store/todos.ts';
import { silent } from '../../../integration/coordination/team.ts';
import { portsOf } from '../../../support/ports.ts';
import { documents } from '../../../support/reading.ts';

export type FunctionName =
  | 'repairTodo'
  | 'relayEvent'
  | 'auditEvents'
  | 'mirrorTaskUpdates'
  | 'notifyOfReminders'
  | 'logDeadLetters'
  | 'sendReminders'
  | 'sweep'
  | 'mcp';

/** Functions that are called over HTTP. All other functions receive events. */
const HTTP_FUNCTIONS: readonly FunctionName[] = ['sendReminders', 'sweep', 'mcp'];

export interface DeploymentOptions {
  /** Whether Pub/Sub is available. Otherwise, the trigger relayEvent itself calls the consumers of events. */
  readonly hasBroker: boolean;
  readonly pushServiceUrl: string;
}

export class Deployment {
  readonly project = `demo-muster-${randomUUID().slice(0, 8)}`;
  readonly firestore = new Firestore({ projectId: this.project });
  private readonly configuration = { projectId: this.project, databaseURL: `https://${this.project}.firebaseio.com` };
  readonly app = initializeApp(this.configuration, this.project);
  private readonly directory = mkdtempSync(`${tmpdir()}/muster-`);
  private readonly clockFile = `${this.directory}/clock`;
  readonly services = { todos: new TodoService(this.ports()), recurringTasks: new RecurringTasks(this.ports()) };
  private readonly servers = new Map<FunctionName, Promise<FunctionServer>>();
  private readonly started: FunctionServer[] = [];
  private readonly env: Readonly<Record<string, string>>;

  private constructor({ hasBroker, pushServiceUrl }: DeploymentOptions) {
    this.env = {
      GCLOUD_PROJECT: this.project,
      GOOGLE_CLOUD_PROJECT: this.project,
      FIREBASE_CONFIG: JSON.stringify(this.configuration),
      FUNCTIONS_EMULATOR: 'true',
      MUSTER_CLOCK_FILE: this.clockFile,
      PUSH_SERVICE_URL: pushServiceUrl,
      ...(!hasBroker && { PUBSUB_EMULATOR_HOST: '' }),
    };
  }

  static async create(options: DeploymentOptions): Promise<Deployment> {
    const deployment = new Deployment(options);
    await loadDatabaseRules(deployment.project);
    return deployment;
  }

  now(): Date {
    return simulatedClock(this.clockFile).now();
  }

  /** Sets by how much the functions' clock differs from the real time. */
  moveTime(milliseconds: number): void {
    writeFileSync(this.clockFile, String(milliseconds));
  }

  /** Returns the URL of a function. The first call starts the function. */
  async urlOf(name: FunctionName): Promise<string> {
    const server = this.servers.get(name) ?? this.start(name);
    this.servers.set(name, server);
    return (await server).url;
  }

  /** Starts an additional instance of a function. */
  async start(name: FunctionName): Promise<FunctionServer> {
    const signature = HTTP_FUNCTIONS.includes(name) ? 'http' : 'cloudevent';
    const env = { ...this.env, FUNCTION_SIGNATURE_TYPE: signature };
    const server = await serveFunction({ ...musterFunction, target: name, env });
    this.started.push(server);
    return server;
  }

  async end(): Promise<void> {
    await Promise.all(this.started.map((server) => server.end()));
    await Promise.all([this.firestore.terminate(), deleteApp(this.app)]);
    rmSync(this.directory, { recursive: true, force: true });
  }

  private ports(): TodoPorts {
    const clock = simulatedClock(this.clockFile);
    return portsOf<TodoPorts>({
      todos: new FirestoreTodoQueries(this.firestore, documents),
      recurringTasks: new FirestoreRecurringTaskQueries(this.firestore, documents),
      taskHistory: new FirestoreTaskHistory(this.firestore, documents),
      notifications: new FirestoreNotifications(this.firestore, documents),
      store: new FirestoreStore({
        database: this.firestore,
        clock,
        randomness: systemRandomness,
        effects: changeEffects,
        loosening: changeLoosening,
        writers: changeWriters,
      }),
      clock,
      randomness: systemRandomness,
      hashing: systemHashing,
      log: silent,
    });
  }
}

/** Loads the rules with the indexes, because the Realtime Database rejects queries without an index. */
async function loadDatabaseRules(namespace: string): Promise<void> {
  const host = process.env['FIREBASE_DATABASE_EMULATOR_HOST'];
  const response = await fetch(`http://${host}/.settings/rules.json?ns=${namespace}`, {
    method: 'PUT',
    headers: { authorization: 'Bearer owner' },
    body: readFileSync(new URL('../../../../database.rules.json', import.meta.url)),
  });
  if (!response.ok) throw new Error(`The rules were refused: ${await response.text()}`);
}

/** Interval of reads that keep a transaction open. Firestore aborts a transaction that is idle for a minute. */
const BETWEEN_SIGNS_MS = 5_000;

/** Blocks commits that change a document until the test calls the returned function. */
export async function hold(firestore: Firestore, path: string): Promise<() => Promise<void>> {
  let free: (isFree: true) => void = () => undefined;
  const freed = new Promise<true>((resolve) => {
    free = resolve;
  });
  const holding = await new Promise<{ readonly ended: Promise<void> }>((held, failed) => {
    const read = async (transaction: Transaction) => {
      do {
        await transaction.get(firestore.doc(path));
        held({ ended });
      } while (!(await Promise.race([freed, delay(BETWEEN_SIGNS_MS, false)])));
    };
    const ended = firestore.runTransaction(read, { maxAttempts: 1 });
    ended.catch(failed);
  });
  return () => {
    free(true);
    return holding.ended;
  };
}
