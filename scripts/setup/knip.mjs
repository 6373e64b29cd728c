// @ts-check
import { root } from '../project.mjs';

/** @param {string} node @returns {string[]} the command that reports files and exports that nobody uses */
export function knip(node) {
  return [node, `${root}/test/node_modules/knip/bin/knip.js`, '--no-progress'];
}
