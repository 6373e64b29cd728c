// @ts-check
import { createServer } from 'node:net';

/**
 * @typedef {Record<PortName, number>} Ports
 * @typedef {'functions' | 'origin' | 'hosting' | 'firestore' | 'auth' | 'database' | 'pubsub' | 'hub' | 'ui' | 'logging' | 'eventarc'
 *   | 'tasks' | 'firestoreWebsocket'} PortName
 */

export const host = '127.0.0.1';

/** Default ports of the emulators, which clients and editors expect, and of Muster's origin. @type {Ports} */
const defaultPorts = {
  functions: 5001,
  origin: 5005,
  hosting: 5000,
  firestore: 8080,
  auth: 9099,
  database: 9000,
  pubsub: 8085,
  hub: 4400,
  ui: 4000,
  logging: 4500,
  eventarc: 9299,
  tasks: 9499,
  firestoreWebsocket: 9150,
};

/** First port to choose. Outgoing connections use higher ports, and could take one before a server listens on it. */
const firstFreePort = 20_000;
const freePortRange = 10_000;

/**
 * Returns the default ports, with a free port instead of each port that is in use.
 * @param {(message: string) => void} say
 * @returns {Promise<Ports>}
 */
export async function defaultOrFreePorts(say) {
  const ports = { ...defaultPorts };
  const moved = [];
  for (const name of portNames()) {
    if (await isFree(ports[name])) continue;
    ports[name] = await freePort();
    moved.push(`${name} ${ports[name]} (not ${defaultPorts[name]})`);
  }
  if (moved.length > 0) say(`some default ports are in use, so others are used: ${moved.join(', ')}`);
  return ports;
}

/** @returns {Promise<Ports>} */
export async function freePorts() {
  const ports = { ...defaultPorts };
  for (const name of portNames()) ports[name] = await freePort();
  return ports;
}

function portNames() {
  return /** @type {PortName[]} */ (Object.keys(defaultPorts));
}

/** Ports that this process has assigned. A server may not be listening on them yet. @type {Set<number>} */
const handedOut = new Set();

export async function freePort() {
  for (;;) {
    const port = firstFreePort + Math.floor(Math.random() * freePortRange);
    if (handedOut.has(port) || !(await isFree(port))) continue;
    handedOut.add(port);
    return port;
  }
}

/** Returns whether no server uses the port, on all addresses or on 127.0.0.1. Two servers could share it. @param {number} port */
async function isFree(port) {
  return (await canListen(port, host)) && (await canListen(port, undefined));
}

/** @param {number} port @param {string | undefined} address @returns {Promise<boolean>} */
function canListen(port, address) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, exclusive: true, ...(address === undefined ? {} : { host: address }) }, () => {
      server.close(() => resolve(true));
    });
  });
}
