// @ts-check
import { existsSync, realpathSync } from 'node:fs';
import { root } from '../project.mjs';

/** Major version of the Node that runs all programs. A CI job sets the next version, to test with that version. */
const wantedMajor = Number(process.env.MUSTER_NODE_MAJOR ?? 22);

/** Binary of the `node` package, written by its install script. */
const ownNode22 = `${root}/node_modules/node/bin/node`;

/**
 * Whether this process runs with the Node that runs all programs: version 22, as on Cloud Functions. The Node of this
 * process can be another one, because npm searches for `node` in this repository's node_modules first.
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
