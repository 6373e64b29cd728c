// @ts-check
/**
 * The emulators alone, for a fast development loop:
 *
 *   node scripts/emulators.mjs [--ports-file env.json] [--without-functions] [--import <folder>]
 *
 * starts them on free ports, prints the environment that reaches them as one JSON object (and writes it to the
 * file), and runs until it is interrupted. The folder is what `firebase emulators:export` has written.
 */
import { checkPrerequisites } from './setup/prerequisites.mjs';

checkPrerequisites();
const { serveEmulators } = await import('./emulators/alone.mjs');
await serveEmulators(process.argv.slice(2));
