// @ts-check
/** Builds the console, which Firebase Hosting serves. */
import { region, root } from '../project.mjs';
import { compile } from './build.mjs';
import { succeeds } from './command.mjs';
import { parameterOf } from './parameters.mjs';

/** Of the console with the seeded people, which only emulators have. */
export const consoleOfEmulators = `${root}/console/dist/emulators`;

/** What is deployed. */
export const consoleOfProduction = `${root}/console/dist/production`;

/**
 * @param {'emulators' | 'production'} mode
 * @param {{ node: string, env: NodeJS.ProcessEnv, target?: string }} options
 */
export async function buildConsole(mode, { node, env, target }) {
  const folder = target ?? (mode === 'emulators' ? consoleOfEmulators : consoleOfProduction);
  const command = [
    node,
    `${root}/scripts/setup/buildConsole.mjs`,
    mode,
    folder,
    // `firebase deploy` names the project to what it runs before.
    parameterOf('REGION', process.env.GCLOUD_PROJECT) || region,
    parameterOf('DATABASE_ID', process.env.GCLOUD_PROJECT) || '(default)',
  ];
  if (await succeeds(command, { env, output: 'errors' })) return;
  throw new Error('the console could not be built');
}

/** @param {string} node @returns {string[]} the command that checks the types of the console */
export function checkConsole(node) {
  return compile(node, ['--noEmit', '-p', `${root}/console`]);
}
