// @ts-check
/**
 * npm run lint                   style, what may import what, and that no file, export or dependency is unused
 * npm run format                 puts right what can be
 * npm run format -- <paths>      there alone
 */
import { biome } from './setup/biome.mjs';
import { succeeds } from './setup/command.mjs';
import { installTestLibraries } from './setup/install.mjs';
import { knip } from './setup/knip.mjs';
import { showUsageIfAsked } from './setup/usage.mjs';

showUsageIfAsked(`npm run lint                   checks style, what may import what, and what is unused
npm run format                 repairs what can be repaired
npm run format -- <paths>      only there`);

await installTestLibraries({ env: process.env, say: (message) => console.error(message) });
const [mode] = process.argv.slice(2);
const holds =
  (await succeeds(biome(process.execPath, process.argv.slice(2)))) &&
  (mode !== 'ci' || (await succeeds(knip(process.execPath))));
process.exitCode = holds ? 0 : 1;
