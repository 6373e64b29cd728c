// @ts-check
/** The console on this machine: its files, which emulators it asks, and the headers that a deployment sends too. */
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

/** Where Google is asked in a deployment. */
const GOOGLES = /\b(?:https|wss):\/\/[^\s;]+/g;

/** @param {Run} run */
function folderOf(run) {
  return `${run.directory}/console`;
}

/**
 * Puts the console where this run serves it, with what it needs to know of the run.
 * @param {Run} run
 * @param {Ports} ports
 * @param {{ people: SeededPerson[] }} who can sign in with one click
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
 * What is committed for Hosting, with this run's files, and its emulators in place of Google: nothing else is opened.
 * @param {Run} run
 * @param {Ports} ports
 * @param {{ headers: HeadersOfSource[], predeploy: string[] }} committed
 */
export function hostingOf(run, ports, { predeploy: _ofDeployments, ...committed }) {
  const asked = [ports.auth, ports.firestore, ports.database, ports.origin].map(
    (port) => `http://${host}:${port}`,
  );
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
