// @ts-check
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { writeConfig } from './config.mjs';
import { deliverMessages } from './delivery.mjs';
import { clientsEnv, consoleUrl, databaseEnv, emulatorsEnv, originUrl, pubsubEnv } from './environment.mjs';
import { startFirebaseTools } from './firebaseTools.mjs';
import { placeConsole } from './hosting.mjs';
import { startOrigin } from './origin.mjs';
import { findPrograms } from './programs.mjs';
import { startPubsub } from './pubsub.mjs';
import { importDatabase, startRtdbLite } from './realtimeDatabase.mjs';

/**
 * @typedef {object} Suite the running emulators
 * @property {import('./ports.mjs').Ports} ports
 * @property {Record<string, string>} env variables for programs that use the emulators
 * @property {boolean} ui
 * @property {Promise<string>} exited resolves with the reason if an emulator ends before the run does
 */

/**
 * @param {import('./environment.mjs').SuiteOptions} options
 * @returns {Promise<Suite>}
 */
export async function startSuite(options) {
  const { run, node, ports, output, functions = true } = options;
  const programs = await findPrograms({ ui: options.ui ?? false, node, say: options.say });
  const lite = programs.database === 'rtdb-lite';
  const env = {
    ...emulatorsEnv(options),
    ...programs.env,
    ...(lite && databaseEnv(ports)),
    ...(programs.pubsub !== undefined && pubsubEnv(ports)),
  };
  const exported = exportIn(options.importFrom);
  if (functions) {
    await startOrigin({ port: ports.origin, functions: ports.functions });
    placeConsole(run, ports, { people: [] });
  }
  // Start the databases and services first, because a function can use them as soon as it is loaded.
  const own = await Promise.all([
    ...(lite ? [startRtdbLite({ node, ports, env, output })] : []),
    ...(programs.pubsub !== undefined ? [startPubsub({ program: programs.pubsub, ports, env, output })] : []),
  ]);
  if (lite && exported !== undefined) await importDatabase(ports, exported);
  const firebase = await startFirebaseTools({
    node,
    emulators: ['firestore', 'auth', ...(functions ? ['functions', 'hosting'] : []), ...(lite ? [] : ['database'])],
    config: writeConfig(run, ports, {
      ui: programs.ui,
      parameters: functions
        ? { ...options.parameters, PUBLIC_URL: originUrl(ports), CONSOLE_URL: consoleUrl(ports) }
        : undefined,
      useLocalParameters: options.useLocalParameters ?? false,
    }),
    directory: run.directory,
    importFrom: exported,
    saveMemory: options.saveMemory,
    env,
    output,
  });
  const reached = clientsEnv(options, { functions, pubsub: programs.pubsub !== undefined });
  if (functions && programs.pubsub !== undefined) {
    const pubsub = `http://${reached.PUBSUB_EMULATOR_HOST}`;
    await deliverMessages({ functions: reached.MUSTER_FUNCTIONS_URL ?? '', pubsub, run, output });
  }
  const exited = Promise.race([firebase, ...own].map((running) => running.exited));
  return { ports, env: reached, ui: programs.ui, exited };
}

/**
 * Returns the absolute path of an export of `firebase emulators:export`, because firebase-tools runs in another folder.
 * @param {string | undefined} folder
 */
export function exportIn(folder) {
  const isExport = folder !== undefined && existsSync(`${folder}/firebase-export-metadata.json`);
  return isExport ? resolve(folder) : undefined;
}
