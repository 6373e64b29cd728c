// @ts-check
/** What a deployment's parameters are, where something must know them before or beside its functions. */
import { existsSync, readFileSync } from 'node:fs';
import { root } from '../project.mjs';

/**
 * As the functions get it: what `.env.<project id>` says goes before `.env`, and a later line before an earlier.
 * @param {string} name
 * @param {string | undefined} project
 * @param {string} [folder]
 * @returns {string} empty where neither says anything
 */
export function parameterOf(name, project, folder = `${root}/functions`) {
  const files = [...(project === undefined ? [] : [`.env.${project}`]), '.env'];
  const line = new RegExp(`^${name}=[ \\t]*(?:"([^"]*)"|'([^']*)'|([^\\s#]*))`, 'gm'); // util.parseEnv is younger than Node 20
  for (const file of files.map((one) => `${folder}/${one}`)) {
    const found = existsSync(file) ? [...readFileSync(file, 'utf8').matchAll(line)].at(-1) : undefined;
    if (found !== undefined) return found[1] ?? found[2] ?? found[3] ?? '';
  }
  return '';
}

/**
 * Where clients connect to a deployment.
 * @param {string} project
 * @param {string} [folder]
 */
export function endpointOf(project, folder) {
  const publicUrl = parameterOf('PUBLIC_URL', project, folder).replace(/\/+(mcp\/*)?$/, '');
  if (publicUrl !== '') return `${publicUrl}/mcp`;
  return `https://${parameterOf('REGION', project, folder)}-${project}.cloudfunctions.net/mcp`;
}
