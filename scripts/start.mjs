// @ts-check
/** `npm start`: the whole of Muster on this machine, until Ctrl-C. */
import { checkPrerequisites } from './setup/prerequisites.mjs';

checkPrerequisites();
const { start } = await import('./start/start.mjs');
await start();
