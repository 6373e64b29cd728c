// @ts-check
import { readFileSync, writeFileSync } from 'node:fs';
import { root } from '../project.mjs';
import { hostingOf } from './hosting.mjs';
import { writeParameters } from './parameters.mjs';
import { host } from './ports.mjs';

/** @typedef {import('./ports.mjs').Ports} Ports */

/**
 * Writes a copy of firebase.json with this run's ports. The copy must be in the project's folder, because
 * firebase-tools resolves all paths relative to that file and refuses paths outside of its folder.
 * @param {import('../processes/run.mjs').Run} run
 * @param {Ports} ports
 * @param {{ ui: boolean, parameters: Record<string, string> | undefined, useLocalParameters: boolean }} options
 * @returns {string} its path
 */
export function writeConfig(run, ports, { ui, parameters, useLocalParameters }) {
  const committed = JSON.parse(readFileSync(`${root}/firebase.json`, 'utf8'));
  const config = {
    ...committed,
    ...(parameters && {
      functions: [{ ...committed.functions[0], configDir: writeParameters(run, parameters, { useLocalParameters }) }],
    }),
    hosting: hostingOf(run, ports, committed.hosting),
    emulators: emulatorsOf(ports, ui),
  };
  const path = `${root}/.firebase-${run.tag}.json`;
  run.removeAtEnd(path);
  writeFileSync(path, JSON.stringify(config, null, 2));
  return path;
}

/** @param {Ports} ports @param {boolean} ui */
function emulatorsOf(ports, ui) {
  /** @param {number} port */
  const at = (port) => ({ host, port });
  return {
    singleProjectMode: false, // avoids a warning for every request of a test that has its own project
    functions: at(ports.functions),
    firestore: { ...at(ports.firestore), websocketPort: ports.firestoreWebsocket },
    auth: at(ports.auth),
    database: at(ports.database),
    hub: at(ports.hub),
    logging: at(ports.logging),
    eventarc: at(ports.eventarc),
    tasks: at(ports.tasks),
    hosting: at(ports.hosting),
    ui: { ...at(ports.ui), enabled: ui },
  };
}
