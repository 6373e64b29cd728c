// @ts-check
/**
 * npm start                   the whole of Muster on this machine, until Ctrl-C
 * npm start -- --demo-models  claude and gemini are played, with canned answers
 */
import { checkPrerequisites } from './setup/prerequisites.mjs';

checkPrerequisites();
const { 'demo-models': demoModels } = await chosen();
const { start } = await import('./start/start.mjs');
await start({ demoModels });

async function chosen() {
  const { parseArgs } = await import('node:util'); // which an old Node lacks
  try {
    return parseArgs({ options: { 'demo-models': { type: 'boolean', default: false } } }).values;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.stderr.write('npm start takes only --demo-models: npm start -- --demo-models\n');
    return process.exit(1);
  }
}
