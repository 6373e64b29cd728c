// @ts-check
import { copyFileSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { projectId } from '../project.mjs';

/**
 * Tells the Firebase CLI of the running emulators, so that `npx firebase emulators:export` finds them. Theirs wrote that
 * into the run's own folder of temporary files. Where another's emulators are told of already, they stay the ones.
 * Source: firebase-tools, src/emulator/hub.ts
 * @param {Pick<import('../processes/run.mjs').Run, 'temporary' | 'removeAtEnd'>} run
 * @param {string} [folder] where the CLI looks
 */
export function tellFirebaseCli(run, folder = tmpdir()) {
  const name = `hub-${projectId}.json`;
  const told = `${folder}/${name}`;
  if (existsSync(told)) return;
  copyFileSync(`${run.temporary}/${name}`, told);
  run.removeAtEnd(told);
}
