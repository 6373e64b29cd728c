/** Heap that an instance needs per watched subscription, and the time to deliver a write to all subscriptions. */
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type Database, getDatabase } from 'firebase-admin/database';
import { z } from 'zod';
import { BUS, firebaseApp } from '../../functions/src/kernel/realtime/database.ts';
import { McpCaller, mcpHeaders, mcpMessage } from '../load/client.ts';
import { type Measurement, spread } from '../measurement.ts';
import { addCallers, type Caller, suiteProject } from '../seed.ts';
import { type ProbedServer, serveProbed } from '../servers/probedServer.ts';

/** Numbers of subscriptions: an instance's default `concurrency` (see entry/http.ts), and 5 and 25 times as many. */
const STEPS = [80, 400, 2000] as const;
const EACH = 20;
const ROUNDS = 3;
const WAIT_MS = 25_000;

interface Held {
  readonly kibibytesEach: number;
  /** Time from the write to the last response. */
  readonly milliseconds: number;
  /** Number of polls that returned their event. */
  readonly received: number;
}

export async function measureSubscriptions(): Promise<Measurement> {
  const project = suiteProject();
  const callers = await addCallers(project, 'worker', Math.max(...STEPS) / EACH);
  const figures: Measurement['figures'][] = [];
  const faults: string[] = [];
  for (const count of STEPS) {
    const rounds: Held[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const server = await serveProbed(project.env);
      rounds.push(await hold(server, callers.slice(0, count / EACH)));
      await server.end();
    }
    const incomplete = rounds.filter(({ received }) => received < count);
    faults.push(...incomplete.map(({ received }) => `only ${received} of ${count} waiting polls received their event`));
    figures.push({
      [memoryWith(count)]: spread(rounds.map((held) => held.kibibytesEach)),
      [timeWith(count)]: spread(rounds.map((held) => held.milliseconds)),
    });
  }
  return {
    name: 'subscriptions',
    title: 'Subscriptions that one instance holds, each with a separate path and a waiting poll',
    figures: Object.assign({}, ...figures),
    figureTargets: {
      ...Object.fromEntries(STEPS.map((count) => [memoryWith(count), { kind: 'at most', value: 25 }])),
      [timeWith(400)]: { kind: 'at most', value: 300 },
    },
    reason: REASON,
    faults,
  };
}

const REASON =
  'By heap snapshots, the HTTP request and the three listeners of the database client take most of the target, and the suspended functions of the call take the rest of the heap. One listener can be omitted if local readers get the entries that this instance has appended. Half of the processor time per event is used by the database client.';

const memoryWith = (count: number): string => `KiB of heap per subscription, with ${count}`;
const timeWith = (count: number): string => `ms from the write to the last poll's response, with ${count}`;

/** Subscribes each caller to separate paths, starts a poll per path, and then writes to all paths in one update. */
async function hold(server: ProbedServer, callers: readonly Caller[]): Promise<Held> {
  const root = `shared/bench-${randomUUID()}`;
  const polls: (() => Promise<string>)[] = [];
  const unsubscribes: (() => Promise<unknown>)[] = [];
  for (const [number, { credential }] of callers.entries()) {
    const caller = new McpCaller(server.url, credential);
    const paths = Array.from({ length: EACH }, (_, index) => `${root}/path-${number}-${index}`);
    const subscriptions = await Promise.all(
      paths.map((path) => caller.call('firebase.subscribe', subscriptionTo(path))),
    );
    polls.push(...subscriptions.map((answer) => () => nextEvents(server.url, credential, answer)));
    unsubscribes.push(
      ...subscriptions.map(
        ({ subscriptionId }) =>
          () =>
            caller.call('firebase.unsubscribe', { subscriptionId }),
      ),
    );
  }
  const before = await server.report('heap');
  const answers = polls.map((start) => start());
  await allWatched(polls.length);
  const kibibytesEach = ((await server.report('heap')) - before) / polls.length;
  const started = performance.now();
  await database().ref(root).update(newsFor(callers.length));
  const received = (await Promise.all(answers)).filter((answer) => answer.includes('"key":"news"')).length;
  const milliseconds = performance.now() - started;
  await Promise.all(unsubscribes.map((unsubscribe) => unsubscribe()));
  return { kibibytesEach, milliseconds, received };
}

/** Returns the update that writes one child below each path. */
function newsFor(callers: number): Record<string, object> {
  const numbers = Array.from({ length: callers * EACH }, (_, index) => index);
  return Object.fromEntries(
    numbers.map((at) => [`path-${Math.floor(at / EACH)}-${at % EACH}/news`, { at: Date.now() }]),
  );
}

function database(): Database {
  return getDatabase(firebaseApp());
}

function subscriptionTo(path: string) {
  return { subscriptionId: randomUUID(), database: 'realtime', path, eventType: 'child_added' };
}

/** This needs more concurrent connections than the clients of the other benchmarks allow. */
const connections = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

/** Polls until a response contains an event, because many polls start while the first ones already wait. */
async function nextEvents(...polled: Parameters<typeof poll>): Promise<string> {
  for (;;) {
    const answer = await poll(...polled);
    if (!answer.includes('"events":[]')) return answer;
  }
}

/** Sends a poll. When the first event has arrived, returns the whole response. */
function poll(url: string, credential: string, { subscriptionId, cursor }: Record<string, unknown>) {
  const args = { subscriptionId, cursor, waitMs: WAIT_MS };
  const body = mcpMessage('tools/call', { name: 'firebase_pollEvents', arguments: args });
  return new Promise<string>((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent: connections, headers: mcpHeaders(credential) });
    sent.on('error', reject).on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('error', reject).on('end', () => resolve(text));
    });
    sent.end(body);
  });
}

const bus = z.record(z.string(), z.object({ watcher: z.object({}).optional() })).nullable();

/** Waits until an instance watches the path of each subscription, which continues for ten seconds after a poll. */
async function allWatched(count: number): Promise<void> {
  for (;;) {
    const logs = Object.values(bus.parse((await database().ref(BUS).get()).val()) ?? {});
    if (logs.filter(({ watcher }) => watcher).length >= count) return;
    await delay(100);
  }
}
