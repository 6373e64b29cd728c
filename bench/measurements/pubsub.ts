/** Processor time per event of a to-do, in the functions that Firestore and Pub/Sub call. */
import { randomUUID } from 'node:crypto';
import { eventPath, todoPath } from '../../functions/src/kernel/firestore/paths.ts';
import { messageOf, TOPICS } from '../../functions/src/toolsets/todo/rules/taskEvent.ts';
import { todoResponse } from '../../functions/src/toolsets/todo/rules/todo.ts';
import { todoEvent } from '../../functions/src/toolsets/todo/rules/todoChanges.ts';
import { eventToDocument } from '../../functions/src/toolsets/todo/store/events.ts';
import { todoToDocument } from '../../functions/src/toolsets/todo/store/todoDocument.ts';
import { deliver, documentEvent, messageEvent } from '../../test/e2e/support/delivery/cloudEvents.ts';
import { Deployment } from '../../test/e2e/support/delivery/deployment.ts';
import { Subscription } from '../../test/integration/spine/pubsub.ts';
import type { Measurement } from '../measurement.ts';
import { todoNumber } from '../todoSeed.ts';

const WARM_UP = 100;
const EVENTS = 400;

/** Number of events that are delivered at the same time. */
const AT_ONCE = 8;

export async function measurePubsub(): Promise<Measurement> {
  const hasBroker = process.env['PUBSUB_EMULATOR_HOST'] !== undefined;
  const deployment = await Deployment.create({ hasBroker, pushServiceUrl: '' });
  const { project, firestore } = deployment;
  if (hasBroker) await Promise.all(Object.values(TOPICS).map((topic) => Subscription.to(topic, project)));
  const events = Array.from({ length: WARM_UP + EVENTS }, (_, number) => {
    const todo = todoNumber(number);
    return todoEvent(null, todo, todoResponse(todo), { eventId: randomUUID(), now: new Date() });
  });
  const writer = firestore.bulkWriter();
  for (const [number, event] of events.entries()) {
    void writer.set(firestore.doc(eventPath(event.id)), eventToDocument(event));
    const todo = todoNumber(number);
    void writer.set(firestore.doc(todoPath(todo.id)), todoToDocument(todo));
  }
  await writer.close();
  const now = new Date().toISOString();
  const created = events.map(({ id }) => {
    const name = `projects/${project}/databases/(default)/documents/${eventPath(id)}`;
    const value = { name, fields: {}, createTime: now, updateTime: now };
    return documentEvent(project, 'created', eventPath(id), { value });
  });
  const messages = (topic: string) =>
    events.map((event) => {
      const message = { id: randomUUID(), text: JSON.stringify(messageOf(event)), attributes: {} };
      return messageEvent(project, topic, message);
    });
  const functions = [
    ['relayEvent', created],
    ['auditEvents', messages(TOPICS.taskEvents)],
    ['mirrorTaskUpdates', messages(TOPICS.taskUpdates)],
  ] as const;
  const figures: Record<string, number> = {};
  const faults: string[] = [];
  for (const [name, pending] of functions) {
    const server = await deployment.start(name);
    const send = async (some: typeof created) => {
      const left = [...some];
      const one = async () => {
        for (let event = left.shift(); event !== undefined; event = left.shift())
          if (!(await deliver(server.url, event))) faults.push(`${name} refused an event`);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, one));
    };
    await send(pending.slice(0, WARM_UP));
    const before = server.cpuSeconds();
    await send(pending.slice(WARM_UP));
    figures[`CPU ms per event of ${name}`] = ((server.cpuSeconds() - before) * 1000) / EVENTS;
    await server.end();
  }
  await deployment.end();
  const title = `Processor time of the functions that process the event of a to-do${hasBroker ? '' : ', without Pub/Sub'}`;
  return { name: 'pubsub', title, figures, faults: [...new Set(faults)] };
}
