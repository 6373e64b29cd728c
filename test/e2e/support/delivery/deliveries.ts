/** Delivers events as Eventarc and Pub/Sub may do: an event several times, late, and in any order. */
import { z } from 'zod';
import { TOPICS, type Topic } from '../../../../functions/src/toolsets/todo/rules/taskEvent.ts';
import { Subscription } from '../../../integration/spine/pubsub.ts';
import { eventually } from '../waiting.ts';
import { type CloudEvent, deliver, documentEvent, messageEvent, type StoredDocument } from './cloudEvents.ts';
import type { Deployment, FunctionName } from './deployment.ts';

const CONSUMERS: Readonly<Record<Topic, FunctionName>> = {
  [TOPICS.taskEvents]: 'auditEvents',
  [TOPICS.taskUpdates]: 'mirrorTaskUpdates',
  [TOPICS.reminders]: 'notifyOfReminders',
};

/** Number of messages per event: one for the event receipts, and one for the mirror or the notifier. */
const MESSAGES_OF_AN_EVENT = 2;

const listed = z.object({
  documents: z
    .array(z.object({ name: z.string(), fields: z.unknown(), createTime: z.string(), updateTime: z.string() }))
    .default([]),
});

interface Delivery {
  readonly to: FunctionName;
  readonly event: CloudEvent;
}

/** Chooses the event to deliver next, removes it from the pending events, and returns it. */
export type Order = (pending: Delivery[]) => Delivery | undefined;
type Documents = ReadonlyMap<string, StoredDocument>;

export class Deliveries {
  /** Events that have not been delivered yet, sorted by time. */
  private readonly pending: Delivery[] = [];
  private readonly delivered: Delivery[] = [];
  private todos: Documents = new Map();
  private events: Documents = new Map();
  private readonly messages = new Set<string>();
  private awaitedMessages = 0;
  private readonly deployment: Deployment;
  private readonly subscriptions: readonly (readonly [Topic, Subscription])[];

  private constructor(deployment: Deployment, subscriptions: readonly (readonly [Topic, Subscription])[]) {
    this.deployment = deployment;
    this.subscriptions = subscriptions;
  }

  static async of(deployment: Deployment, hasBroker: boolean): Promise<Deliveries> {
    const topics = hasBroker ? Object.values(TOPICS) : [];
    const subscribing = topics.map(async (topic) => [topic, await Subscription.to(topic, deployment.project)] as const);
    return new Deliveries(deployment, await Promise.all(subscribing));
  }

  /** Adds events to the pending events for all database writes and messages since the last call. */
  async collect(): Promise<void> {
    const { project } = this.deployment;
    const [todos, events] = await Promise.all([this.documents('todos'), this.documents('events')]);
    for (const name of new Set([...this.todos.keys(), ...todos.keys()])) {
      const [oldValue, value] = [this.todos.get(name), todos.get(name)];
      if (oldValue?.updateTime === value?.updateTime) continue;
      const write = { ...(value && { value }), ...(oldValue && { oldValue }) };
      this.pending.push({ to: 'repairTodo', event: documentEvent(project, 'written', pathOf(name), write) });
    }
    for (const [name, value] of events) {
      if (this.events.has(name)) continue;
      this.pending.push({ to: 'relayEvent', event: documentEvent(project, 'created', pathOf(name), { value }) });
    }
    [this.todos, this.events] = [todos, events];
    const arrived = this.subscriptions.map(async ([topic, subscription]) =>
      (await subscription.pull()).map((message) => ({ topic, message })),
    );
    for (const { topic, message } of (await Promise.all(arrived)).flat()) {
      if (this.messages.has(message.id)) continue;
      this.messages.add(message.id);
      this.pending.push({ to: CONSUMERS[topic], event: messageEvent(project, topic, message) });
    }
  }

  /** Delivers every pending event, and every event that results from one, twice concurrently. */
  async deliverTwice(take: Order): Promise<void> {
    for (;;) {
      await eventually('all published messages have arrived', () => this.hasCollected());
      const next = take(this.pending);
      if (next === undefined) return;
      await this.both(next);
    }
  }

  /** Repeats the delivery of all events that were already delivered, newest first. */
  async repeat(): Promise<void> {
    for (const delivery of this.delivered.splice(0).toReversed()) await this.one(delivery);
  }

  /** Collects, and returns true if an event is pending or if all expected messages have arrived. */
  private async hasCollected(): Promise<true | undefined> {
    await this.collect();
    return this.pending.length > 0 || this.messages.size >= this.awaitedMessages || undefined;
  }

  private async both(delivery: Delivery): Promise<void> {
    await Promise.all([this.one(delivery), this.one(delivery)]);
    this.delivered.push(delivery);
    if (delivery.to === 'relayEvent' && this.subscriptions.length > 0) this.awaitedMessages += 2 * MESSAGES_OF_AN_EVENT;
  }

  private async one({ to, event }: Delivery): Promise<void> {
    const url = await this.deployment.urlOf(to);
    await eventually(
      `${to} takes ${event['subject'] ?? event['id']}`,
      async () => (await deliver(url, event)) || undefined,
    );
  }

  private async documents(collection: string): Promise<Documents> {
    const parent = `projects/${this.deployment.project}/databases/(default)/documents`;
    const url = `http://${process.env['FIRESTORE_EMULATOR_HOST']}/v1/${parent}/${collection}?pageSize=300`;
    const response = await fetch(url, { headers: { authorization: 'Bearer owner' } });
    const { documents } = listed.parse(await response.json());
    return new Map(documents.map((document) => [document.name, document]));
  }
}

/** Returns the path of a document, such as `todos/t` for `projects/p/databases/(default)/documents/todos/t`. */
function pathOf(name: string): string {
  return name.split('/documents/')[1] ?? name;
}
