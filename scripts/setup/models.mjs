// @ts-check
/** Finds the file of the hosted agents: `models.<project id>.json` replaces `models.json` completely. */
import { existsSync } from 'node:fs';
import { root } from '../project.mjs';

/**
 * Returns the path of the file, relative to the folder.
 * @param {string | undefined} project
 * @param {string} [folder]
 */
export function modelsFile(project, folder = `${root}/functions`) {
  const own = `models.${project}.json`;
  return project !== undefined && existsSync(`${folder}/${own}`) ? own : 'models.json';
}
