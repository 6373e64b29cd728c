// @ts-check
import { existsSync, realpathSync } from 'node:fs';
import { root } from '../project.mjs';

/** Set, everything runs under the host's Node of that version instead: a lane of CI tries the next one. */
const wantedMajor = Number(process.env.MUSTER_NODE_MAJOR ?? 22);

/** The binary of the `node` package, which its install script puts there. */
const ownNode22 = `${root}/node_modules/node/bin/node`;

/**
 * Cloud Functions run under Node 22: so does everything here, whatever the host's own version is. That is not always
 * the one that runs us, since npm looks for `node` in our own node_modules first.
 */
const isHostsNode22 =
  Number.parseInt(process.versions.node, 10) === wantedMajor &&
  !realpathSync(process.execPath).startsWith(`${realpathSync(root)}/node_modules/`);

export function lacksNode22() {
  return !isHostsNode22 && !existsSync(ownNode22);
}

export function node22() {
  return isHostsNode22 ? process.execPath : ownNode22;
}
