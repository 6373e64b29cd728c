// @ts-check
/**
 * Is required before each program of the emulators, by `NODE_OPTIONS`. It lets their servers keep idle connections:
 * Node ends them after 5 seconds, and a request that is just being sent on one fails in its client. And it spares the
 * program in which firebase-tools runs a function more than half of its start. That program loads firebase-admin and
 * firebase-functions to put stand-ins into them, which the functions never see, because their build has copies of its
 * own; and most of firebase-tools, for one small function.
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

/** Whoever requires the file gets these exports. @param {string} file @param {object} exports */
function putInPlaceOf(file, exports) {
  require.cache[file] = Object.assign(new Module(file), { filename: file, exports, loaded: true });
}

/** The folder of a package, as functionsEmulatorShared finds it. @param {string} name @param {string} file in it */
function findModuleRoot(name, file) {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    try {
      if (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).name === name) return folder;
    } catch {
      // There is none in this folder.
    }
  }
  throw new Error(`${file} is not in ${name}`);
}
