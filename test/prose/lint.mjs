// @ts-check
/**
 * Reports expressions in the repository's prose that docs/style.md replaces. Part of `npm run lint` and `npm test`.
 * Arguments: paths below the repository root. Without arguments, checks every tracked file.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { root } from '../../scripts/project.mjs';
import { EXPRESSIONS } from './expressions.mjs';
import { commentsAfter, proseOfCode, proseOfMarkdown } from './extract.mjs';

/** Files that are generated from checked sources, recorded from releases, or published by others. */
const EXCLUDED =
  /^(?:docs\/reference\/|test\/contract\/|test\/stored\/(?:firestore|realtime)\/|test\/schemas\/|database\.rules\.json|(?:.*\/)?package-lock\.json)/;

/**
 * @param {string} path
 * @returns {import('./extract.mjs').Passage[]}
 */
function proseOf(path) {
  const source = readFileSync(`${root}/${path}`, 'utf8');
  const isTest = /^(?:test|[\w-]+\/test|packages\/[\w-]+\/test)\//.test(path);
  if (/\.(?:[cm]?[jt]s|[jt]sx|json)$/.test(path)) return proseOfCode(path, source, { isTest });
  if (path.endsWith('.md')) return proseOfMarkdown(source);
  if (path.endsWith('.rules')) return commentsAfter(source, '//');
  if (/\.(?:ya?ml|sh|py)$|^\.ci\/run$/.test(path)) return commentsAfter(source, '#');
  return [];
}

const paths = execFileSync('git', ['ls-files', '--', ...process.argv.slice(2)], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((path) => path !== '' && !EXCLUDED.test(path));

let findings = 0;
for (const path of paths)
  for (const { kind, text, line } of proseOf(path))
    for (const { id, kinds, pattern, instead } of EXPRESSIONS) {
      const match = kinds.includes(kind) && text.match(pattern);
      if (!match) continue;
      findings++;
      const from = Math.max(0, (match.index ?? 0) - 30);
      console.log(`${path}:${line} ${id} …${text.slice(from, (match.index ?? 0) + match[0].length + 30)}… ${instead}`);
    }
if (findings > 0) {
  console.error(`${findings} expressions to replace. docs/style.md has the rules.`);
  process.exitCode = 1;
}
