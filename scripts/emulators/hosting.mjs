// @ts-check
/** Serves the console on this machine, with the emulators' addresses and with the headers of a deployment. */
import { cpSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { databaseNamespace, projectId, root } from '../project.mjs';
import { consoleOfEmulators } from '../setup/console.mjs';
import { originUrl } from './environment.mjs';
import { host } from './ports.mjs';

/**
 * @typedef {import('../processes/run.mjs').Run} Run
 * @typedef {import('./ports.mjs').Ports} Ports
 * @typedef {{ headers: { key: string, value: string }[] }} HeadersOfSource
 *
 * @typedef {object} SeededPerson who can sign in
 * @property {string} name
 * @property {string} email
 * @property {string} password
 */

/** Addresses of Google's services, which the console of a deployment may call. */
const GOOGLES = /\b(?:https|wss):\/\/[^\s;]+/g;

/** @param {Run} run */
function folderOf(run) {
  return `${run.directory}/console`;
}

/**
 * Writes the console to this run's folder, with its configuration.
 * @param {Run} run
 * @param {Ports} ports
 * @param {{ people: SeededPerson[] }} people people as whom the console offers to sign in with one click
 */
export function placeConsole(run, ports, { people }) {
  cpSync(consoleOfEmulators, folderOf(run), { recursive: true });
  const settings = {
    firebase: {
      apiKey: 'emulator',
      projectId,
      authDomain: `${projectId}.firebaseapp.com`,
      databaseURL: `https://${databaseNamespace}.firebaseio.com`,
    },
    endpoint: `${originUrl(ports)}/mcp`,
    emulators: {
      auth: `${host}:${ports.auth}`,
      firestore: `${host}:${ports.firestore}`,
      database: `${host}:${ports.database}`,
    },
    people,
  };
  writeFileSync(`${folderOf(run)}/emulators.json`, JSON.stringify(settings));
}

/**
 * Returns the Hosting configuration for this run's files, which allows its emulators instead of Google's services.
 * @param {Run} run
 * @param {Ports} ports
 * @param {{ headers: HeadersOfSource[], predeploy: string[] }} committed
 */
export function hostingOf(run, ports, { predeploy: _ofDeployments, ...committed }) {
  const asked = [ports.auth, ports.firestore, ports.database, ports.origin].map((port) => `http://${host}:${port}`);
  const places = [...asked, `ws://${host}:${ports.database}`].join(' ');
  return {
    ...committed,
    public: relative(root, folderOf(run)),
    headers: committed.headers.map((source) => ({
      ...source,
      headers: source.headers.map(({ key, value }) => ({ key, value: atEmulators(value, places) })),
    })),
  };
}

/** @param {string} policy @param {string} places */
function atEmulators(policy, places) {
  return policy.replace(/connect-src [^;]+/, (directive) =>
    `${directive.replace(GOOGLES, '')}${places}`.replace(/ +/g, ' '),
  );
}
