// @ts-check
import { copyFileSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { projectId } from '../project.mjs';

/**
 * Tells the Firebase CLI of the running emulators, so that `npx firebase emulators:export` finds them. The CLI looks for
 * the locator of the emulator hub in the machine's folder of temporary files; this run's hub has written it into the
 * run's own. Where other emulators are running, the CLI goes on finding those.
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
