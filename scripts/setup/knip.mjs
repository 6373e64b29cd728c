// @ts-check
import { root } from '../project.mjs';

/** @param {string} node @returns {string[]} the command that reports unused files and exports */
export function knip(node) {
  return [node, `${root}/test/node_modules/knip/bin/knip.js`, '--no-progress'];
}
