// @ts-check
/** Starts rtdb-lite, which replaces Google's emulator of the Realtime Database if Google's is not available. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { databaseNamespace, devDirectory, root } from '../project.mjs';
import { host } from './ports.mjs';
import { startListening } from './program.mjs';

const owner = { authorization: 'Bearer owner' };

/**
 * @param {object} options
 * @param {string} options.node
 * @param {import('./ports.mjs').Ports} options.ports
 * @param {NodeJS.ProcessEnv} options.env
 * @param {import('./output.mjs').Output} options.output
 * @returns {Promise<import('./program.mjs').Running>}
 */
export async function startRtdbLite({ node, ports, env, output }) {
  const args = [`${root}/rtdb-lite/src/main.ts`, '--host', host, '--port', String(ports.database)];
  args.push('--functions_emulator_host', host, '--functions_emulator_port', String(ports.functions));
  const command = [node, '--disable-warning=ExperimentalWarning', ...args];
  /** @param {string} line */
  const log = (line) => output.line('database', line);
  // With compiled code from an earlier start, Node does not load its compiler for TypeScript, which needs 20 MB.
  const cached = { ...env, NODE_COMPILE_CACHE: `${devDirectory}/compiled` };
  const running = await startListening('rtdb-lite', { command, env: cached, log, output });
  const rules = readFileSync(`${root}/database.rules.json`, 'utf8');
  await put(ports.database, `/.settings/rules.json?ns=${databaseNamespace}`, rules);
  return running;
}

/**
 * Imports an export of `firebase emulators:export`, which has one file per namespace.
 * @param {import('./ports.mjs').Ports} ports
 * @param {string} exported
 */
export async function importDatabase(ports, exported) {
  const folder = `${exported}/database_export`;
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];
  for (const file of files) {
    const data = readFileSync(`${folder}/${file}`, 'utf8');
    await put(ports.database, `/.json?ns=${basename(file, '.json')}&disableTriggers=true`, data);
  }
}

/** @param {number} port @param {string} path with the namespace in its query @param {string} body */
async function put(port, path, body) {
  const url = `http://${host}:${port}${path}`;
  const response = await fetch(url, { method: 'PUT', headers: owner, body });
  if (!response.ok) throw new Error(`rtdb-lite refused ${path}: ${await response.text()}`);
}
