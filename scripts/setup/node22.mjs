// @ts-check
import { existsSync } from 'node:fs';
import { root } from '../project.mjs';

const wantedMajor = 22;

/** Cloud Functions run under Node 22: so does everything here, whatever the host's own version is. */
export function needsOwnNode22() {
  return Number.parseInt(process.versions.node, 10) !== wantedMajor;
}

/** The binary of the `node` package, which its install script puts there. */
export const ownNode22 = `${root}/node_modules/node/bin/node`;

export function node22() {
  if (!needsOwnNode22()) return process.execPath;
  if (!existsSync(ownNode22))
    throw new Error('Node 22 is missing from node_modules: run `npm rebuild node --ignore-scripts=false`.');
  return ownNode22;
}
