// @ts-check
/**
 * Delivers published messages to the functions as Eventarc does: a few at a time, with retries until the function
 * succeeds. firebase-tools would send up to 1,000 messages at the same time, send a message again to another process
 * if it is not acknowledged after 10 seconds, and never retry a failed message.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { projectId } from '../project.mjs';
import { subscribe } from './pubsub.mjs';
import { callTrigger, triggersIn } from './triggers.mjs';

/** Maximum number of concurrent deliveries, each of which runs in a separate process of the functions emulator. */
export const maxConcurrentMessages = 2;

/** Acknowledgement deadline, longer than the timeout of a call, so that no message is delivered twice at once. */
const ackDeadlineSeconds = 600;
const callMilliseconds = 300_000;

/** Delay before a failed message or a failed request to Pub/Sub is retried. */
const retrySeconds = 5;
const headers = { 'content-type': 'application/cloudevents+json; charset=UTF-8' };
const messagePublished = 'google.cloud.pubsub.topic.v1.messagePublished';

/**
 * @typedef {Pick<import('../processes/run.mjs').Run, 'isEnding'>} Ending
 * @typedef {Pick<import('./output.mjs').Output, 'line'>} Log
 */

/**
 * Subscribes each function to its topic, and delivers messages until the run ends.
 * @param {object} options
 * @param {string} options.functions address of the functions emulator
 * @param {string} options.pubsub address of the Pub/Sub emulator
 * @param {Ending} options.run
 * @param {Log} options.output
 */
export async function deliverMessages({ functions, pubsub, run, output }) {
  for (const { id, eventTrigger } of await triggersIn(functions)) {
    if (eventTrigger?.eventType !== messagePublished) continue;
    const topic = eventTrigger.resource?.split('/').at(-1) ?? '';
    const subscription = await subscribe(pubsub, { topic, name: id, ackDeadlineSeconds });
    const delivery = new Delivery({ functions, id, topic, subscription, output });
    for (let courier = 0; courier < maxConcurrentMessages; courier++) deliverUntilEnd(delivery, run);
  }
}

/** @param {Delivery} delivery @param {Ending} run */
async function deliverUntilEnd(delivery, run) {
  while (!run.isEnding()) await delivery.deliverNext();
}

/** Delivers the messages of one subscription to one function. */
class Delivery {
  /**
   * @param {object} options
   * @param {string} options.functions
   * @param {string} options.id
   * @param {string} options.topic
   * @param {import('./pubsub.mjs').Subscription} options.subscription
   * @param {Log} options.output
   */
  constructor({ functions, id, topic, subscription, output }) {
    this.functions = functions;
    this.id = id;
    this.topic = topic;
    this.subscription = subscription;
    this.output = output;
  }

  async deliverNext() {
    try {
      const received = await this.subscription.pull();
      if (received === undefined) return;
      const failure = await this.deliver(received.message);
      if (failure === undefined) return await this.subscription.acknowledge(received.ackId);
      this.output.line('delivery', failure);
      await this.subscription.postpone(received.ackId, retrySeconds);
    } catch (error) {
      this.output.line('delivery', `Error: ${error instanceof Error ? error.message : error}`);
      await delay(retrySeconds * 1000);
    }
  }

  /** @param {import('./pubsub.mjs').Message} message @returns {Promise<string | undefined>} an error */
  async deliver(message) {
    const body = JSON.stringify(messageEvent(this.topic, this.subscription.path, message));
    try {
      return await callTrigger(this.functions, this.id, { milliseconds: callMilliseconds, headers, body });
    } catch (error) {
      return `${this.id} did not respond: ${error instanceof Error ? error.message : error}`;
    }
  }
}

/**
 * Returns the event with which Eventarc calls a function.
 * @param {string} topic
 * @param {string} subscription
 * @param {import('./pubsub.mjs').Message} message
 */
function messageEvent(topic, subscription, message) {
  return {
    specversion: '1.0',
    id: message.messageId,
    time: message.publishTime,
    type: messagePublished,
    source: `//pubsub.googleapis.com/projects/${projectId}/topics/${topic}`,
    data: { subscription, message: { data: '', attributes: {}, ...message } },
  };
}
