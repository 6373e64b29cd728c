// @ts-check
import { root } from './project.mjs';
import { parsedOrUsage, wrongUsage } from './setup/usage.mjs';
import { writeVersion } from './setup/version.mjs';

const usage = 'npm run version -- 1.2.3   writes the version to every file that contains it';

const {
  positionals: [version = ''],
} = parsedOrUsage(usage, { allowPositionals: true });
if (!/^\d+\.\d+\.\d+$/.test(version)) wrongUsage(usage, 'Missing or invalid version.');
writeVersion(root, version);
console.log(
  'The results in docs/benchmarks.md name the version that they measured. To measure this version: npm run bench -- --write',
);
