// @ts-check
/**
 * Starts only the emulators, for fast development, on free ports. Prints their environment as one JSON object (and
 * writes it to the file), and runs until it is interrupted. The folder is an export of `firebase emulators:export`.
 */
import { checkPrerequisites } from './setup/prerequisites.mjs';
import { showUsageIfAsked } from './setup/usage.mjs';

showUsageIfAsked(
  'node scripts/emulators.mjs [--ports-file env.json] [--without-functions] [--import <folder>]   starts only the emulators',
);
checkPrerequisites();
const { serveEmulators } = await import('./emulators/standalone.mjs');
await serveEmulators(process.argv.slice(2));
