// @ts-check
/** Builds the console, which Firebase Hosting serves. */
import { existsSync, readFileSync } from 'node:fs';
import { region, root } from '../project.mjs';
import { compile } from './build.mjs';
import { succeeds } from './command.mjs';

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
    regionOf(process.env.GCLOUD_PROJECT),
  ];
  if (await succeeds(command, { env, output: 'errors' })) return;
  throw new Error('the console could not be built');
}

/**
 * Where the functions are that the page calls, as their parameters say it.
 * @param {string | undefined} project which `firebase deploy` names to what it runs before
 * @returns {string}
 */
export function regionOf(project) {
  const files = [...(project === undefined ? [] : [`.env.${project}`]), '.env'];
  for (const file of files.map((name) => `${root}/functions/${name}`)) {
    const [, found] =
      (existsSync(file) && /^REGION=["']?([a-z0-9-]+)/m.exec(readFileSync(file, 'utf8'))) || [];
    if (found !== undefined) return found;
  }
  return region;
}

/** @param {string} node @returns {string[]} the command that checks the types of the console */
export function checkConsole(node) {
  return compile(node, ['--noEmit', '-p', `${root}/console`]);
}
