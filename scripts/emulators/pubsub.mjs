// @ts-check
/** Starts the Pub/Sub emulator, and calls its REST interface. */
import { projectId } from '../project.mjs';
import { host } from './ports.mjs';
import { startListening } from './program.mjs';

/**
 * @typedef {object} Message message of a subscription
 * @property {string} messageId
 * @property {string} publishTime
 * @property {string} [data] in base64
 * @property {Record<string, string>} [attributes]
 * @property {string} [orderingKey]
 *
 * @typedef {{ ackId: string, message: Message }} Received
 *
 * @typedef {Awaited<ReturnType<typeof subscribe>>} Subscription
 */

/** Useless lines of output: one per header of each request, and some about a missing logger. */
const ignoredOutput = /HttpAdapter|orwarding key: |SLF4J/;

/**
 * @param {object} options
 * @param {string} options.program
 * @param {import('./ports.mjs').Ports} options.ports
 * @param {NodeJS.ProcessEnv} options.env
 * @param {import('./output.mjs').Output} options.output
 * @returns {Promise<import('./program.mjs').Running>}
 */
export function startPubsub({ program, ports, env, output }) {
  const command = [program, `--host=${host}`, `--port=${ports.pubsub}`];
  /** @param {string} line */
  const log = (line) => {
    if (!ignoredOutput.test(line)) output.line('pubsub', line);
  };
  return startListening('the Pub/Sub emulator', { command, env, log, output });
}

/**
 * Returns a topic's subscription, creating both if necessary.
 * @param {string} emulator its address
 * @param {{ topic: string, name: string, ackDeadlineSeconds: number }} wanted
 */
export async function subscribe(emulator, { topic, name, ackDeadlineSeconds }) {
  const topicPath = `projects/${projectId}/topics/${topic}`;
  const path = `projects/${projectId}/subscriptions/${name}`;
  await ask(emulator, 'PUT', topicPath, {});
  await ask(emulator, 'PUT', path, { topic: topicPath, ackDeadlineSeconds });
  return {
    path,
    /** Waits for a message; undefined if none arrives in time. @returns {Promise<Received | undefined>} */
    async pull() {
      const { receivedMessages = [] } = await ask(emulator, 'POST', `${path}:pull`, { maxMessages: 1 });
      return receivedMessages[0];
    },
    /** @param {string} ackId */
    async acknowledge(ackId) {
      await ask(emulator, 'POST', `${path}:acknowledge`, { ackIds: [ackId] });
    },
    /** Makes Pub/Sub deliver the message again after this time. @param {string} ackId @param {number} seconds */
    async postpone(ackId, seconds) {
      const change = { ackIds: [ackId], ackDeadlineSeconds: seconds };
      await ask(emulator, 'POST', `${path}:modifyAckDeadline`, change);
    },
  };
}

/**
 * @param {string} emulator
 * @param {'PUT' | 'POST'} method
 * @param {string} resource
 * @param {object} body
 * @returns {Promise<{ receivedMessages?: Received[] }>}
 */
async function ask(emulator, method, resource, body) {
  const response = await fetch(`${emulator}/v1/${resource}`, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const alreadyThere = method === 'PUT' && response.status === 409;
  if (!response.ok && !alreadyThere)
    throw new Error(`Pub/Sub responded with ${response.status} to ${resource}: ${await response.text()}`);
  return /** @type {{ receivedMessages?: Received[] }} */ (await response.json());
}
