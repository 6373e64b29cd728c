// @ts-check
/**
 * npm run lint                   checks style, imports, unused exports, prose, Markdown and spelling
 * npm run format                 fixes style
 * npm run format -- <paths>      fixes style only in these paths
 */
import { biome } from './setup/biome.mjs';
import { succeeds } from './setup/command.mjs';
import { installTestLibraries } from './setup/install.mjs';
import { knip } from './setup/knip.mjs';
import { showUsageIfAsked } from './setup/usage.mjs';
import { writing } from './setup/writing.mjs';

showUsageIfAsked(`npm run lint                   checks style, imports, unused exports, prose, Markdown and spelling
npm run format                 fixes style
npm run format -- <paths>      fixes style only in these paths`);

await installTestLibraries({ env: process.env, say: (message) => console.error(message) });
const [mode] = process.argv.slice(2);
const commands = [biome(process.execPath, process.argv.slice(2))];
if (mode === 'ci') commands.push(knip(process.execPath), ...Object.values(writing(process.execPath)));
let passed = true;
for (const command of commands) passed = (await succeeds(command)) && passed;
process.exitCode = passed ? 0 : 1;
