// @ts-check
/**
 * npm start                   the whole of Muster on this machine, until Ctrl-C
 * npm start -- --demo-models  claude and gemini are played, with canned answers
 */
import { checkPrerequisites } from './setup/prerequisites.mjs';

const usage = `npm start                   the whole of Muster on this machine, until Ctrl-C
npm start -- --demo-models  claude and gemini are played, with canned answers
`;

checkPrerequisites();
const { 'demo-models': demoModels } = await chosen();
const { start } = await import('./start/start.mjs');
await start({ demoModels });

async function chosen() {
  const { parsedOrUsage } = await import('./setup/usage.mjs'); // it imports what an old Node lacks
  const options = { 'demo-models': { type: /** @type {const} */ ('boolean'), default: false } };
  return parsedOrUsage(usage, { options }).values;
}
