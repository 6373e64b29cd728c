// @ts-check
import { root } from '../project.mjs';

/** @param {string} node @param {string[]} args @returns {string[]} the command that checks or fixes style */
export function biome(node, args) {
  return [node, `${root}/test/node_modules/@biomejs/biome/bin/biome`, ...args];
}
