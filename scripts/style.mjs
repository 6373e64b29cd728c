// @ts-check
/**
 * npm run lint                   style, what may import what, and that nothing is exported that nobody imports
 * npm run format                 puts right what can be
 * npm run format -- <paths>      there alone
 */
import { root } from './project.mjs';
import { biome } from './setup/biome.mjs';
import { succeeds } from './setup/command.mjs';
import { installTestLibraries } from './setup/install.mjs';
import { showUsageIfAsked } from './setup/usage.mjs';

showUsageIfAsked(`npm run lint                   checks style, and what may import what
npm run format                 repairs what can be repaired
npm run format -- <paths>      only there`);

await installTestLibraries({ env: process.env, say: (message) => console.error(message) });
const [mode] = process.argv.slice(2);
const knip = [process.execPath, `${root}/test/node_modules/knip/bin/knip.js`, '--no-progress'];
const holds =
  (await succeeds(biome(process.execPath, process.argv.slice(2)))) &&
  (mode !== 'ci' || (await succeeds(knip)));
process.exitCode = holds ? 0 : 1;
