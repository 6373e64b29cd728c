/** Writes the generated files or, with `--check`, fails if any of them is stale. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { referenceFiles, staleFiles } from './files.ts';

if (process.argv.includes('--check')) {
  const stale = staleFiles();
  for (const { path } of stale) console.error(`${path} is stale. Run npm run reference.`);
  process.exit(stale.length === 0 ? 0 : 1);
}
for (const { url, text } of referenceFiles()) {
  mkdirSync(new URL('.', url), { recursive: true });
  writeFileSync(url, text);
}
