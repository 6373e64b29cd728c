// @ts-check
/** Finds the emulators of the Google Cloud CLI, for machines on which firebase-tools cannot download its own. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
import { root } from '../project.mjs';
import { writeManifestJar } from './manifestJar.mjs';

const mainClass = 'com.google.cloud.datastore.emulator.firestore.CloudFirestore';
const firestoreJar = 'platform/cloud-firestore-emulator/cloud-firestore-emulator.jar';
const pubsubProgram = 'platform/pubsub-emulator/bin/cloud-pubsub-emulator';

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
 * Returns a jar that firebase-tools can run with `java -jar`. The CLI's own jar does not specify a main class.
 * @returns {string | undefined}
 */
export function cloudSdkFirestore() {
  const jar = component(firestoreJar);
  return jar && launcher('firestore.jar', (path) => writeManifestJar(path, { mainClass, jar }));
}

/** @returns {string | undefined} */
export function cloudSdkPubsub() {
  return component(pubsubProgram);
}

/** @param {string} name @param {(path: string) => void} write */
function launcher(name, write) {
  const folder = `${root}/.emulators`;
  const unfinished = `${folder}/${name}.${process.pid}.part`; // atomic, because another run can be reading the file
  mkdirSync(folder, { recursive: true });
  write(unfinished);
  renameSync(unfinished, `${folder}/${name}`);
  return `${folder}/${name}`;
}

/** @param {string} path */
function component(path) {
  return componentIn(knownRoots, path) ?? componentIn(askedRoots(), path);
}

/** @param {string[]} roots @param {string} path */
function componentIn(roots, path) {
  return roots.map((sdk) => `${sdk}/${path}`).find((file) => existsSync(file));
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
    return []; // the program is not installed
  }
}
