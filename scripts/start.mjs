// @ts-check
/**
 * npm start                   runs all of Muster on this machine, until Ctrl-C
 * npm start -- --demo-models  replaces claude and gemini with canned models
 */
import { checkPrerequisites } from './setup/prerequisites.mjs';
import { parsedOrUsage, showUsageIfAsked } from './setup/usage.mjs';

const usage = `npm start                   runs all of Muster on this machine, until Ctrl-C
npm start -- --demo-models  replaces claude and gemini with canned models
`;

showUsageIfAsked(usage);
checkPrerequisites();
const options = { 'demo-models': { type: /** @type {const} */ ('boolean'), default: false } };
const { 'demo-models': demoModels } = parsedOrUsage(usage, { options }).values;
const { start } = await import('./start/start.mjs');
await start({ demoModels });
