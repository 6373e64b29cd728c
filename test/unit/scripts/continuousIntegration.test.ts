/** Continuous integration runs each suite of `npm test` before a merge. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { root } from '../../../scripts/project.mjs';
import { suites } from '../../../scripts/tests/suites.mjs';

const workflow = readFileSync(`${root}/.github/workflows/ci.yml`, 'utf8');
const guide = readFileSync(`${root}/docs/guides/testing.md`, 'utf8');

/** Names of the suites that the default run contains. */
const standard = suites.filter(({ optional }) => optional !== true).map(({ name }) => name);

describe('continuous integration', () => {
  const run = [...workflow.matchAll(/^ +suites: (.+)$/gm)].flatMap(([, names = '']) => names.split(' '));

  it('runs every suite of the default run exactly once', () => assert.deepEqual([...run].sort(), [...standard].sort()));

  it('runs its matrix on every push and pull request', () => {
    assert.match(workflow, /^on:\n {2}push:\n(?: {4}.*\n)* {2}pull_request:\n/m);
    assert.match(workflow, /^ +- run: npm test -- \$\{\{ matrix\.suites \}\}$/m);
    const job = /^ {2}test:\n((?: {4}.*\n|\n)+)/m.exec(workflow)?.[1] ?? '';
    assert.match(job, /matrix\.suites/);
    assert.doesNotMatch(job, /^ {4}if:/m);
  });

  it('runs exactly the suites that the testing guide lists for it', () => {
    const table = /## Suites\n([\s\S]+?)\n\n[A-Z]/.exec(guide)?.[1] ?? '';
    const reported = table
      .split('\n')
      .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name));
    assert.deepEqual(reported.filter((name) => name !== 'real').sort(), [...standard].sort());
  });
});
