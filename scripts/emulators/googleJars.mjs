// @ts-check
/** Provides Google's emulators at the version that firebase-tools requires, from its cache or by download. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { root } from '../project.mjs';
import { succeeds } from '../setup/command.mjs';
import { fetchOutside } from '../setup/proxy.mjs';

/**
 * @typedef {object} Download
 * @property {number} expectedSize
 * @property {string} expectedChecksumSHA256
 * @property {string} remoteUrl
 * @property {string} downloadPathRelativeToCacheDir
 *
 * @typedef {object} Packed
 * @property {string} remoteUrl
 * @property {string} binaryPathRelativeToCacheDir
 */

/** Time in which a response must start; otherwise, this machine is offline. A download may take longer. */
const answerMilliseconds = 4000;
const downloadMilliseconds = 180_000;
const cache = process.env.FIREBASE_EMULATORS_PATH ?? `${homedir()}/.cache/firebase/emulators`;

/** @param {'firestore' | 'database'} emulator */
export function isCached(emulator) {
  return existsSync(pathOf(detailsOf(emulator)));
}

/**
 * Returns whether firebase-tools has unpacked the program or can download and unpack it.
 * @param {'ui' | 'pubsub'} program
 */
export async function isWithinReach(program) {
  const { remoteUrl } = packed(program);
  if (existsSync(packedPathOf(program))) return true;
  try {
    return (await fetchOutside(remoteUrl, { method: 'HEAD', signal: AbortSignal.timeout(answerMilliseconds) })).ok;
  } catch {
    return false;
  }
}

/**
 * Returns the program unpacked by firebase-tools, after downloading it if necessary.
 * @param {'pubsub'} program
 * @param {{ node: string, say: (message: string) => void }} options
 * @returns {Promise<string | undefined>} undefined if the program is not available
 */
export async function unpacked(program, { node, say }) {
  const path = packedPathOf(program);
  if (existsSync(path)) return path;
  if (!(await isWithinReach(program))) return undefined;
  say(`downloading the ${program} emulator`);
  const firebase = `${root}/node_modules/firebase-tools/lib/bin/firebase.js`;
  const unpacking = await succeeds([node, firebase, `setup:emulators:${program}`], { output: 'errors' });
  return unpacking && existsSync(path) ? path : undefined;
}

/**
 * Downloads the emulator to the cache of firebase-tools, unless it is there already.
 * @param {'firestore' | 'database'} emulator
 * @param {(message: string) => void} say
 * @returns {Promise<boolean>} false if the emulator is not available
 */
export async function download(emulator, say) {
  const details = detailsOf(emulator);
  const unfinished = `${pathOf(details)}.${process.pid}.part`;
  try {
    const body = await open(details.remoteUrl);
    say(`downloading the ${emulator} emulator (${Math.round(details.expectedSize / 2 ** 20)} MB)`);
    mkdirSync(dirname(unfinished), { recursive: true });
    await pipeline(body, createWriteStream(unfinished), { signal: AbortSignal.timeout(downloadMilliseconds) });
    if ((await sha256(unfinished)) !== details.expectedChecksumSHA256) throw new Error('wrong checksum');
    renameSync(unfinished, pathOf(details));
    return true;
  } catch {
    rmSync(unfinished, { force: true });
    return false;
  }
}

/** @param {string} url */
async function open(url) {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), answerMilliseconds);
  const response = await fetchOutside(url, { signal: abort.signal });
  clearTimeout(timer);
  if (!response.ok || response.body === null) throw new Error(`HTTP ${response.status}`);
  return Readable.fromWeb(response.body);
}

/** @param {string} path */
async function sha256(path) {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

/** @param {Download} details */
function pathOf(details) {
  return `${cache}/${details.downloadPathRelativeToCacheDir}`;
}

/** @param {'ui' | 'pubsub'} program */
function packedPathOf(program) {
  return `${cache}/${packed(program).binaryPathRelativeToCacheDir}`;
}

/** @param {'ui' | 'pubsub'} program @returns {Packed} */
function packed(program) {
  return program === 'ui' ? allDetails().ui.main : allDetails().pubsub;
}

/** @param {'firestore' | 'database'} emulator @returns {Download} */
function detailsOf(emulator) {
  return allDetails()[emulator];
}

/** @returns {{ firestore: Download, database: Download, pubsub: Packed, ui: { main: Packed } }} */
function allDetails() {
  const path = `${root}/node_modules/firebase-tools/lib/emulator/downloadableEmulatorInfo.json`;
  return JSON.parse(readFileSync(path, 'utf8'));
}
