// @ts-check
/**
 * Starts only the emulators, for fast development:
 *
 *   node scripts/emulators.mjs [--ports-file env.json] [--without-functions] [--import <folder>]
 *
 * starts them on free ports, prints their environment as one JSON object (and writes it to the file), and runs until
 * it is interrupted. The folder is an export of `firebase emulators:export`.
 */
import { checkPrerequisites } from './setup/prerequisites.mjs';

checkPrerequisites();
const { serveEmulators } = await import('./emulators/standalone.mjs');
await serveEmulators(process.argv.slice(2));
