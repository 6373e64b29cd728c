// @ts-check
/**
 * Loaded into each program of the emulators through `NODE_OPTIONS`. Makes their servers keep idle connections. Node
 * would close these after 5 seconds, and a request that is sent at that moment would fail. Also halves the start time
 * of a function's process: prevents it from loading most of firebase-tools, and from loading firebase-admin and
 * firebase-functions only to stub them, which is useless because the bundle has its own copies.
 */
const { readFileSync } = require('node:fs');
const { Server } = require('node:http');
const Module = require('node:module');
const { dirname, join } = require('node:path');

Object.defineProperty(Server.prototype, 'keepAliveTimeout', { get: () => 0, set: () => undefined });

const PROGRAM = /[\\/]functionsEmulatorRuntime(\.js)?$/;

const [, program = ''] = process.argv;
if (PROGRAM.test(program)) {
  const ofProgram = Module.createRequire(program);
  const ofFunctions = Module.createRequire(join(process.cwd(), 'package.json'));
  putInPlaceOf(ofProgram.resolve('./functionsEmulatorShared'), { findModuleRoot });
  for (const name of ['firebase-admin', 'firebase-functions']) putInPlaceOf(ofFunctions.resolve(name), {});
}

/** Replaces the exports of a file. @param {string} file @param {object} exports */
function putInPlaceOf(file, exports) {
  require.cache[file] = Object.assign(new Module(file), { filename: file, exports, loaded: true });
}

/** Returns the folder of a package, as functionsEmulatorShared does. @param {string} name @param {string} file in the package */
function findModuleRoot(name, file) {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    try {
      if (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).name === name) return folder;
    } catch {
      // The package is not in this folder; try the next one.
    }
  }
  throw new Error(`${file} is not in ${name}`);
}
