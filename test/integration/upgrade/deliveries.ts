/**
 * Stand-in for Eventarc, Pub/Sub push and Cloud Tasks. Delivers every third event to all running versions, and each
 * of the other events to one version. The versions take turns.
 */
import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import {
  type CloudEvent,
  deliver,
  documentEvent,
  messageEvent,
  type StoredDocument,
} from '../../e2e/support/delivery/cloudEvents.ts';
import { eventually } from '../../e2e/support/waiting.ts';
import { close, listen, portOf } from '../../support/listening.ts';
import { Subscription } from '../spine/pubsub.ts';
import { documentOf, topicOf } from './manifest.ts';
import type { Version } from './version.ts';

const listed = z.object({
  documents: z
    .array(z.object({ name: z.string(), fields: z.unknown(), createTime: z.string(), updateTime: z.string() }))
    .default([]),
  nextPageToken: z.string().optional(),
});

/** A request to create a task, as firebase-admin sends it to the Cloud Tasks emulator. */
const ordered = z.object({ task: z.object({ httpRequest: z.object({ body: z.string() }) }) });

const TOPICS = ['task-events', 'task-updates', 'reminders'];

/** An unsigned token. Functions accept it, because Google Cloud verifies signatures before it calls a function. */
const SIGNED = `Bearer ${encoded({ alg: 'none', typ: 'JWT' })}.${encoded({ sub: 'tasks', aud: 'executeRun' })}.`;

const TWICE = 3;

/** Maximum number of rounds of deliveries until there are no new writes. Concurrent scenarios add rounds. */
const MAX_ROUNDS = 200;

/** Time for retries of a delivery. A function rejects a delivery while it is still processing the same item. */
const PATIENCE_MS = 30_000;

interface Follower {
  readonly name: string;
  readonly pattern: string;
  readonly kind: 'created' | 'written';
}

export class Deliveries {
  private readonly project: string;
  private serving: readonly Version[] = [];
  private readonly known = new Map<string, StoredDocument>();
  private readonly orders: string[] = [];
  private subscriptions: readonly (readonly [string, Subscription])[] = [];
  /** Paths of the documents whose changes were delivered in the last round. */
  private readonly written = new Set<string>();
  private turn = 0;
  private settling: Promise<void> = Promise.resolve();
  /** Promise for the next delivery. All callers of `settle` before the start of this delivery share it. */
  private next: Promise<void> | undefined;
  private readonly cloudTasks: Server = createServer((request, response) => {
    void text(request).then((body) => {
      this.orders.push(ordered.parse(JSON.parse(body)).task.httpRequest.body);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });

  private constructor(project: string) {
    this.project = project;
  }

  static async open(project: string): Promise<Deliveries> {
    const deliveries = new Deliveries(project);
    await listen(deliveries.cloudTasks);
    const topics = process.env['PUBSUB_EMULATOR_HOST'] === undefined ? [] : TOPICS;
    deliveries.subscriptions = await Promise.all(
      topics.map(async (topic) => [topic, await Subscription.to(topic, project)] as const),
    );
    return deliveries;
  }

  /** Value for the variable `CLOUD_TASKS_EMULATOR_HOST`. */
  get cloudTasksHost(): string {
    return `127.0.0.1:${portOf(this.cloudTasks)}`;
  }

  /** Sets the running versions, which receive all events from now on. */
  to(...versions: readonly Version[]): void {
    this.serving = versions;
  }

  /**
   * Delivers events for all new writes, and for the writes that these events cause, until none are left. Each round
   * reads whole collections, so concurrent callers share one delivery.
   * @throws Error if the writes never end, as when two versions keep overwriting each other's writes
   */
  settle(): Promise<void> {
    this.next ??= this.settling.then(async () => {
      this.next = undefined;
      for (let round = 1; (await this.deliverAll()) > 0; round += 1)
        if (round === MAX_ROUNDS) throw new Error(`Each round causes new writes: ${[...this.written].join(', ')}`);
    });
    this.settling = this.next.catch(() => undefined);
    return this.next;
  }

  /** Calls a scheduled function of one version, as Cloud Scheduler does. Then delivers the resulting events. */
  async tick(version: Version, schedule: 'sweep' | 'sendReminders'): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    const { ok, status } = await fetch(version.urlOf(schedule), { method: 'POST', headers, body: '{}' });
    if (!ok) throw new Error(`${version.name}: ${schedule} returned status ${status}`);
    await this.settle();
  }

  close(): Promise<void> {
    return close(this.cloudTasks);
  }

  private async deliverAll(): Promise<number> {
    this.written.clear();
    return (await this.deliverDocuments()) + (await this.deliverMessages()) + (await this.deliverOrders());
  }

  private async deliverDocuments(): Promise<number> {
    const followers = this.followers();
    let count = 0;
    for (const [collection, now] of await this.collections(followers.map(({ pattern }) => collectionOf(pattern))))
      for (const [path, write] of this.changes(collection, now)) {
        count += 1;
        this.written.add(path);
        for (const { name, pattern, kind } of followers)
          if (concerns(pattern, path) && (kind === 'written' || write.oldValue === undefined))
            await this.bring(name, documentEvent(this.project, kind, path, write));
      }
    return count;
  }

  /** Returns the functions of the running versions that document writes trigger, without duplicates. */
  private followers(): readonly Follower[] {
    const all = this.serving.flatMap(({ manifests }) => Object.entries(manifests));
    const followers = new Map<string, Follower>();
    for (const [name, one] of all) {
      const pattern = documentOf(one);
      const kind = one.eventTrigger?.eventType.endsWith('.created') ? 'created' : 'written';
      if (pattern !== undefined) followers.set(name, { name, pattern, kind });
    }
    return [...followers.values()];
  }

  private async collections(
    names: readonly string[],
  ): Promise<ReadonlyMap<string, ReadonlyMap<string, StoredDocument>>> {
    const all = [...new Set(names)].map(async (name) => [name, await this.documents(name)] as const);
    return new Map(await Promise.all(all));
  }

  /** Yields each document of the collection that has changed since the previous call. Stores the new state. */
  private *changes(collection: string, now: ReadonlyMap<string, StoredDocument>) {
    const before = [...this.known.keys()].filter((path) => collectionOf(path) === collection);
    for (const path of new Set([...now.keys(), ...before])) {
      const [oldValue, value] = [this.known.get(path), now.get(path)];
      if (oldValue?.updateTime === value?.updateTime) continue;
      if (value === undefined) this.known.delete(path);
      else this.known.set(path, value);
      yield [path, { ...(value && { value }), ...(oldValue && { oldValue }) }] as const;
    }
  }

  private async deliverMessages(): Promise<number> {
    let count = 0;
    for (const [topic, subscription] of this.subscriptions)
      for (const message of await subscription.pull()) {
        const consumers = this.serving.flatMap(({ manifests }) =>
          Object.entries(manifests).flatMap(([name, one]) => (topicOf(one) === topic ? [name] : [])),
        );
        for (const name of new Set(consumers)) await this.bring(name, messageEvent(this.project, topic, message));
        count += 1;
      }
    return count;
  }

  private async deliverOrders(): Promise<number> {
    const orders = this.orders.splice(0);
    await Promise.all(
      orders.map(async (order) => {
        const [version] = this.having('executeRun');
        const headers = { 'content-type': 'application/json', authorization: SIGNED };
        const body = Buffer.from(order, 'base64').toString();
        await eventually(
          'executeRun accepts a task',
          async () => {
            const { ok } = await fetch(String(version?.urlOf('executeRun')), { method: 'POST', headers, body });
            return ok || undefined;
          },
          PATIENCE_MS,
        );
      }),
    );
    return orders.length;
  }

  private async bring(name: string, event: CloudEvent): Promise<void> {
    const versions = this.having(name);
    const takers = this.turn % TWICE === 0 ? versions : versions.slice(0, 1);
    for (const version of takers)
      await eventually(
        `${version.name} accepts an event for ${name}`,
        async () => (await deliver(version.urlOf(name), event)) || undefined,
        PATIENCE_MS,
      );
  }

  /** Returns the running versions that have the function. Their order alternates from call to call. */
  private having(name: string): readonly Version[] {
    const having = this.serving.filter(({ manifests }) => manifests[name] !== undefined);
    this.turn += 1;
    return this.turn % 2 === 0 ? having : having.toReversed();
  }

  private async documents(collection: string): Promise<ReadonlyMap<string, StoredDocument>> {
    const parent = `http://${process.env['FIRESTORE_EMULATOR_HOST']}/v1/projects/${this.project}/databases/(default)/documents`;
    const found = new Map<string, StoredDocument>();
    for (let token: string | undefined = ''; token !== undefined; ) {
      const url = `${parent}/${collection}?pageSize=300&pageToken=${encodeURIComponent(token)}`;
      const response = await fetch(url, { headers: { authorization: 'Bearer owner' } });
      const page = listed.parse(await response.json());
      for (const document of page.documents)
        found.set(document.name.slice(document.name.indexOf('/documents/') + '/documents/'.length), document);
      token = page.nextPageToken;
    }
    return found;
  }
}

/** Returns the collection of a path or pattern, such as `tasks` for `tasks/{taskId}` and `tasks/task-1`. */
function collectionOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

function concerns(pattern: string, path: string): boolean {
  return pattern === path || (pattern.endsWith('}') && collectionOf(pattern) === collectionOf(path));
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
