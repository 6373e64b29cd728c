// @ts-check
import { copyFileSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { projectId } from '../project.mjs';

/**
 * Registers the emulators with the Firebase CLI, so that `npx firebase emulators:export` finds them. The CLI reads the
 * emulator hub's locator file from the machine's temporary folder, but this run's hub writes that file to the run's
 * folder. If other emulators are already registered, the CLI continues to find those.
 * Source: firebase-tools, src/emulator/hub.ts
 * @param {Pick<import('../processes/run.mjs').Run, 'temporary' | 'removeAtEnd'>} run
 */
export function tellFirebaseCli(run) {
  const name = `hub-${projectId}.json`;
  const locator = `${tmpdir()}/${name}`;
  if (existsSync(locator)) return;
  copyFileSync(`${run.temporary}/${name}`, locator);
  run.removeAtEnd(locator);
}
