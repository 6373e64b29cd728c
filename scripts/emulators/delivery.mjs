// @ts-check
/**
 * Brings what is published to the functions that listen, as Eventarc does in a deployment: a few messages at once, and
 * again until the function has taken them. firebase-tools' own delivery hands over a thousand at once, hands over again
 * what is not acknowledged in 10 seconds, each time to another process, and acknowledges what a function failed at.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { projectId } from '../project.mjs';
import { subscribe } from './pubsub.mjs';
import { callTrigger, triggersIn } from './triggers.mjs';

/** The emulator runs each in a process of its own. */
export const messagesAtOnce = 2;

/** Longer than a call of a function is waited for, so that no message comes again while it is being processed. */
const ackDeadlineSeconds = 600;
const callMilliseconds = 300_000;

/** Until a message comes again that a function failed at, and until Pub/Sub is asked again where it refused. */
const retrySeconds = 5;

const headers = { 'content-type': 'application/cloudevents+json; charset=UTF-8' };
const messagePublished = 'google.cloud.pubsub.topic.v1.messagePublished';

/**
 * @typedef {Pick<import('../processes/run.mjs').Run, 'isEnding'>} Ending
 * @typedef {Pick<import('./output.mjs').Output, 'line'>} Log
 */

/**
 * Subscribes each function to its topic, and delivers until the run ends.
 * @param {object} options
 * @param {string} options.functions their emulator
 * @param {string} options.pubsub its emulator
 * @param {Ending} options.run
 * @param {Log} options.output
 */
export async function deliverMessages({ functions, pubsub, run, output }) {
  for (const { id, eventTrigger } of await triggersIn(functions)) {
    if (eventTrigger?.eventType !== messagePublished) continue;
    const topic = eventTrigger.resource?.split('/').at(-1) ?? '';
    const subscription = await subscribe(pubsub, { topic, name: id, ackDeadlineSeconds });
    const delivery = new Delivery({ functions, id, topic, subscription, output });
    for (let courier = 0; courier < messagesAtOnce; courier++) deliverUntilEnd(delivery, run);
  }
}

/** @param {Delivery} delivery @param {Ending} run */
async function deliverUntilEnd(delivery, run) {
  while (!run.isEnding()) await delivery.deliverNext();
}

/** From one subscription to one function. */
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

  /** @param {import('./pubsub.mjs').Message} message @returns {Promise<string | undefined>} what went wrong */
  async deliver(message) {
    const body = JSON.stringify(messageEvent(this.topic, this.subscription.path, message));
    try {
      return await callTrigger(this.functions, this.id, { milliseconds: callMilliseconds, headers, body });
    } catch (error) {
      return `${this.id} did not answer: ${error instanceof Error ? error.message : error}`;
    }
  }
}

/**
 * The event by which Eventarc calls a function.
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
