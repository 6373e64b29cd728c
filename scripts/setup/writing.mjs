// @ts-check
import { root } from '../project.mjs';

/**
 * Returns the commands that check documents, comments, messages and test titles (docs/style.md).
 * @param {string} node
 * @returns {Record<string, string[]>}
 */
export function writing(node) {
  const libraries = `${root}/test/node_modules`;
  return {
    prose: [node, `${root}/test/prose/lint.mjs`],
    markdown: [node, `${libraries}/markdownlint-cli2/markdownlint-cli2-bin.mjs`],
    spelling: [node, `${libraries}/cspell/bin.mjs`, 'lint', '--no-progress', '--no-summary'],
  };
}
