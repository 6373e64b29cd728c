// @ts-check
import { region, root } from '../project.mjs';
import { compile } from './build.mjs';
import { succeeds } from './command.mjs';
import { endpointOf, parameterOf } from './parameters.mjs';

/** Build for emulators only, in which the seeded people can sign in with one click. */
export const consoleOfEmulators = `${root}/console/dist/emulators`;
export const consoleOfProduction = `${root}/console/dist/production`;

/**
 * Returns the settings that are built into the page: the functions' region, the database, the address for clients,
 * which is empty if no project is specified, and the key for push messages to browsers.
 * @param {string | undefined} project
 * @param {string} [folder] of the parameters
 */
export function builtIn(project, folder) {
  return {
    region: parameterOf('REGION', project, folder) || region,
    database: parameterOf('DATABASE_ID', project, folder) || '(default)',
    address: project === undefined ? '' : endpointOf(project, folder),
    webPushKey: parameterOf('WEB_PUSH_KEY', project, folder),
  };
}

/**
 * @param {'emulators' | 'production'} mode
 * @param {{ node: string, env: NodeJS.ProcessEnv, target?: string }} options
 */
export async function buildConsole(mode, { node, env, target }) {
  const folder = target ?? (mode === 'emulators' ? consoleOfEmulators : consoleOfProduction);
  // `firebase deploy` passes the project to its predeploy commands.
  const { region: place, database, address, webPushKey } = builtIn(process.env.GCLOUD_PROJECT);
  const program = `${root}/scripts/setup/buildConsole.mjs`;
  const command = [node, program, mode, folder, place, database, address, webPushKey];
  if (await succeeds(command, { env, output: 'errors' })) return;
  throw new Error('cannot build the console');
}

/** @param {string} node @returns {string[]} the command that checks the types of the console */
export function checkConsole(node) {
  return compile(node, ['--noEmit', '-p', `${root}/console`]);
}

/** @param {string} node @returns {string[]} the command that checks the types of the console's service worker */
export function checkWorker(node) {
  return compile(node, ['--noEmit', '-p', `${root}/console/worker`]);
}
