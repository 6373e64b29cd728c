// @ts-check
/** Reads the parameters of a deployment in scripts, outside of its functions. */
import { existsSync, readFileSync } from 'node:fs';
import { root } from '../project.mjs';

/**
 * Returns a parameter as functions get it: `.env.<project id>` overrides `.env`, later lines override earlier ones.
 * @param {string} name
 * @param {string | undefined} project
 * @param {string} [folder]
 * @returns {string} empty if the parameter is not set
 */
export function parameterOf(name, project, folder = `${root}/functions`) {
  const files = [...(project === undefined ? [] : [`.env.${project}`]), '.env'];
  const line = new RegExp(`^${name}=[ \\t]*(?:"([^"]*)"|'([^']*)'|([^\\s#]*))`, 'gm'); // util.parseEnv needs a Node newer than 20
  for (const file of files.map((one) => `${folder}/${one}`)) {
    const found = existsSync(file) ? [...readFileSync(file, 'utf8').matchAll(line)].at(-1) : undefined;
    if (found !== undefined) return found[1] ?? found[2] ?? found[3] ?? '';
  }
  return '';
}

/**
 * Returns the URL of a deployment's endpoint.
 * @param {string} project
 * @param {string} [folder]
 */
export function endpointOf(project, folder) {
  const publicUrl = parameterOf('PUBLIC_URL', project, folder).replace(/\/+(mcp\/*)?$/, '');
  if (publicUrl !== '') return `${publicUrl}/mcp`;
  return `https://${parameterOf('REGION', project, folder)}-${project}.cloudfunctions.net/mcp`;
}
