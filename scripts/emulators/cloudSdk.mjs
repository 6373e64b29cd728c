// @ts-check
/** The Google Cloud CLI's Firestore emulator, which comes as a package of its own where downloads are out of reach. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
import { root } from '../project.mjs';
import { writeManifestJar } from './manifestJar.mjs';

const mainClass = 'com.google.cloud.datastore.emulator.firestore.CloudFirestore';
const component = 'platform/cloud-firestore-emulator/cloud-firestore-emulator.jar';

const knownRoots = [
  '/usr/lib/google-cloud-sdk',
  '/usr/share/google-cloud-sdk',
  '/opt/google-cloud-sdk',
  '/opt/homebrew/share/google-cloud-sdk',
  '/usr/local/share/google-cloud-sdk',
  '/snap/google-cloud-cli/current',
  `${homedir()}/google-cloud-sdk`,
];

/**
 * A jar that firebase-tools can start with `java -jar`: the CLI's own names no main class.
 * @returns {string | undefined}
 */
export function cloudSdkFirestoreJar() {
  const jar = jarIn(knownRoots) ?? jarIn(askedRoots());
  if (jar === undefined) return undefined;
  const folder = `${root}/.emulators`;
  mkdirSync(folder, { recursive: true });
  const launcher = `${folder}/cloud-firestore-emulator-launcher.jar`;
  const unfinished = `${launcher}.${process.pid}.part`; // another run may be reading the finished one
  writeManifestJar(unfinished, { mainClass, jar });
  renameSync(unfinished, launcher);
  return launcher;
}

/** @param {string[]} roots */
function jarIn(roots) {
  return roots.map((sdk) => `${sdk}/${component}`).find((path) => existsSync(path));
}

function askedRoots() {
  try {
    const asked = ['info', '--format=value(installation.sdk_root)'];
    const answer = execFileSync('gcloud', asked, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 20_000,
    });
    return [answer.trim()];
  } catch {
    return []; // no such program
  }
}
