// @ts-check
/**
 * npm start                   runs all of Muster on this machine, until Ctrl-C
 * npm start -- --demo-models  replaces claude and gemini with canned models
 */
import { checkPrerequisites } from './setup/prerequisites.mjs';

const usage = `npm start                   runs all of Muster on this machine, until Ctrl-C
npm start -- --demo-models  replaces claude and gemini with canned models
`;

checkPrerequisites();
const { 'demo-models': demoModels } = await chosen();
const { start } = await import('./start/start.mjs');
await start({ demoModels });

async function chosen() {
  const { parsedOrUsage } = await import('./setup/usage.mjs'); // imported here, because it needs a recent Node
  const options = { 'demo-models': { type: /** @type {const} */ ('boolean'), default: false } };
  return parsedOrUsage(usage, { options }).values;
}
