// @ts-check
/**
 * npm run store-release -- <version> [commit or tag]
 *
 * Builds the functions of a release, and stores the bundle for the upgrade test. Source: docs/guides/releasing.md.
 */
import { statSync } from 'node:fs';
import { root } from './project.mjs';
import { bundleOf, commitOf, rulesOf } from './setup/buildRelease.mjs';
import { writeRelease } from './setup/releases.mjs';
import { parsedOrUsage, wrongUsage } from './setup/usage.mjs';

const usage = 'npm run store-release -- <version> [commit or tag]   for example: 0.3.0 v0.3.0';

const {
  positionals: [version, revision = 'HEAD'],
} = parsedOrUsage(usage, { allowPositionals: true });
if (version === undefined || !/^\d+\.\d+\.\d+$/.test(version)) wrongUsage(usage, 'Missing or invalid version.');
try {
  const commit = commitOf(revision);
  const file = writeRelease({ version, commit, files: await bundleOf(commit), rules: rulesOf(commit) });
  console.log(`${file.slice(root.length + 1)}: ${statSync(file).size} bytes, of ${commit}.`);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
