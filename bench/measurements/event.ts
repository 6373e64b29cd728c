/** Time from a write until a waiting poll returns its event, compared with a bare listener of the database. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Firestore } from '@google-cloud/firestore';
import { initializeApp } from 'firebase-admin/app';
import { getDatabase } from 'firebase-admin/database';
import { firebaseApp } from '../../functions/src/kernel/realtime/database.ts';
import { McpCaller } from '../load/client.ts';
import { type Measurement, median, spread } from '../measurement.ts';
import { alternate, type Rounds, ratioOf, type Schedule } from '../rounds.ts';
import { addCallers, suiteProject } from '../seed.ts';
import { startDelayingProxy } from '../servers/delayingProxy.ts';
import { musterFunction, serveFunction } from '../servers/functionServer.ts';

const SCHEDULE: Schedule = { warmUps: 2, rounds: 15 };
const DELAYED_SCHEDULE: Schedule = { warmUps: 1, rounds: 7 };
const EVENTS = 11;

/** Pause before each write, in which the poll starts to wait and the events of the previous write are delivered. */
const SETTLING_MS = 150;

/** Number of delays that the start of a poll needs, in addition to the pause. */
const SETTLING_DELAYS = 5;
const DATABASE = 'FIREBASE_DATABASE_EMULATOR_HOST';
const WAIT_MS = 20_000;

/** Path that only this benchmark writes, in one of the databases. */
interface Stage {
  readonly subscription: { readonly database: string; readonly path: string; readonly eventType: string };
  write(key: string): Promise<unknown>;
  /** Listens with the database's own client, reports each new key, and returns a function that stops listening. */
  listen(added: (key: string) => void): () => void;
}

interface Listener {
  /** Resolves when the event of the key arrives. Called before the key is written. */
  next(key: string): Promise<void>;
}

interface Setting {
  readonly name: string;
  readonly stage: () => Stage;
  /** Delay of each direction between the Realtime Database and its clients. */
  readonly delayMs: number;
  readonly target: number;
}

const SETTINGS: readonly Setting[] = [
  { name: 'event.realtime', stage: realtimeStage, delayMs: 0, target: 2.5 },
  { name: 'event.realtime5', stage: realtimeStage, delayMs: 5, target: 1.5 },
  { name: 'event.realtime20', stage: realtimeStage, delayMs: 20, target: 1.5 },
  { name: 'event.firestore', stage: firestoreStage, delayMs: 0, target: 1.25 },
];

export async function measureEvent(): Promise<Measurement[]> {
  const found: Measurement[] = [];
  for (const setting of SETTINGS) found.push(await measureSetting(setting));
  return found;
}

async function measureSetting({ name, stage, delayMs, target }: Setting): Promise<Measurement> {
  const project = suiteProject();
  const [worker] = await addCallers(project, 'worker');
  if (worker === undefined) throw new Error('Missing caller.');
  const direct = process.env[DATABASE] ?? '';
  const host = delayMs === 0 ? direct : await startDelayingProxy(direct, delayMs);
  // The clients of the stage and the function read the database's address from the environment.
  process.env[DATABASE] = host;
  const server = await serveFunction({ ...musterFunction, env: project.env });
  const milliseconds = await compare(new McpCaller(server.url, worker.credential), stage(), delayMs);
  process.env[DATABASE] = direct;
  await server.end();
  const where = delayMs === 0 ? '' : `, with ${delayMs} ms each way between the database and its clients`;
  return {
    name,
    title: `Time from a write until a waiting pollEvents returns its event${where}`,
    ratio: ratioOf(milliseconds),
    target: { kind: 'at most', value: target },
    figures: { ms: spread(milliseconds.ours), 'ms of the baseline, a bare listener': spread(milliseconds.baseline) },
    reason: REASON,
    faults: [],
  };
}

const REASON =
  'An event is stored in the log before it is delivered, which is one more round trip to the Realtime Database. With a delay to that database, the ratio of `event.realtime` is therefore at least 2. Next step: deliver an event while it is being stored. Readers would then get an event twice if the instance ends before the event is stored, which decision 12 excludes.';

async function compare(caller: McpCaller, stage: Stage, delayMs: number): Promise<Rounds> {
  const subscriptionId = `bench-${randomUUID()}`;
  const subscribed = await caller.call('firebase.subscribe', { subscriptionId, ...stage.subscription });
  const polling = pollingListener(caller, subscriptionId, subscribed['cursor']);
  const waiting = new Map<string, () => void>();
  const stop = stage.listen((key) => waiting.get(key)?.());
  const bare: Listener = { next: (key) => new Promise((resolve) => waiting.set(key, resolve)) };
  const settlingMs = SETTLING_MS + SETTLING_DELAYS * delayMs;
  const milliseconds = await alternate(
    delayMs === 0 ? SCHEDULE : DELAYED_SCHEDULE,
    () => medianOf(polling, stage, settlingMs),
    () => medianOf(bare, stage, settlingMs),
  );
  stop();
  await caller.call('firebase.unsubscribe', { subscriptionId });
  return milliseconds;
}

function pollingListener(caller: McpCaller, subscriptionId: string, beginning: unknown): Listener {
  let cursor = beginning;
  return {
    async next(key) {
      for (;;) {
        const answer = await caller.call('firebase.pollEvents', { subscriptionId, cursor, waitMs: WAIT_MS });
        cursor = answer['cursor'];
        if (JSON.stringify(answer['events']).includes(`"key":"${key}"`)) return;
      }
    },
  };
}

async function medianOf(listener: Listener, stage: Stage, settlingMs: number): Promise<number> {
  const milliseconds: number[] = [];
  for (let count = 0; count < EVENTS; count++) {
    const key = randomUUID();
    const come = listener.next(key);
    await delay(settlingMs);
    const started = performance.now();
    const written = stage.write(key);
    await come;
    milliseconds.push(performance.now() - started);
    await written;
  }
  return median(milliseconds);
}

/** The listener has its own connection, because a client reports its own writes before it has sent them. */
function realtimeStage(): Stage {
  const path = `shared/bench-${randomUUID()}`;
  const { options } = firebaseApp();
  const writer = getDatabase(initializeApp(options, `writer-${path}`)).ref(path);
  const reader = getDatabase(initializeApp(options, `reader-${path}`)).ref(path);
  return {
    subscription: { database: 'realtime', path, eventType: 'child_added' },
    write: (key) => writer.child(key).set({ at: Date.now() }),
    listen(added) {
      reader.on('child_added', ({ key }) => key !== null && added(key));
      return () => reader.off();
    },
  };
}

function firestoreStage(): Stage {
  const path = `shared/bench/${randomUUID()}`;
  const writer = new Firestore().collection(path);
  const reader = new Firestore().collection(path);
  return {
    subscription: { database: 'firestore', path, eventType: 'document_added' },
    write: (key) => writer.doc(key).set({ at: Date.now() }),
    listen: (added) =>
      reader.onSnapshot((snapshot) => {
        for (const { type, doc } of snapshot.docChanges()) if (type === 'added') added(doc.id);
      }),
  };
}
