// @ts-check
import { readFileSync, rmSync, statSync } from 'node:fs';
import { basename, relative } from 'node:path';
import { devDirectory, root } from '../project.mjs';
import { succeeds } from './command.mjs';
import { exclusively } from './lock.mjs';
import { lacksNode22 } from './node22.mjs';

/** @typedef {Record<string, { version?: string, integrity?: string, optional?: boolean, link?: boolean }>} Packages */

const testLibraries = `${root}/test`;
const testClients = `${root}/test/clients`;
const testSchemas = `${root}/test/schemas`;
const claudeCode = '@anthropic-ai/claude-code';

const MOST_BYTES_OF_A_STUB = 4096;

/**
 * The npm that runs us, if one does, and the Node that runs it: there may be several on a machine, and the one that
 * runs us may be in the very node_modules that npm is about to replace.
 */
const { npm_node_execpath: npmsNode = process.execPath, npm_execpath: npmsProgram } = process.env;
const npm = npmsProgram === undefined ? ['npm'] : [npmsNode, npmsProgram];

/**
 * Installs what is locked, where it is not installed already.
 * @param {{ env: NodeJS.ProcessEnv, say: (message: string) => void }} run
 */
export async function installDependencies({ env, say }) {
  await exclusively(
    `${devDirectory}/install.lock`,
    async () => {
      if (!isInstalled(root)) {
        say('installing the dependencies (npm ci), which takes a minute or two');
        await runNpm(['ci'], root, env);
      }
      if (lacksNode22()) await installNode22(env);
    },
    say,
  );
}

/** What only builds against Node read, its headers, stays away: 66 MB. @param {NodeJS.ProcessEnv} env */
async function installNode22(env) {
  await runScriptsOf('node', root, env);
  rmSync(`${root}/node_modules/node/node_modules`, { recursive: true, force: true });
}

/**
 * Installs what only the tests, the style check and the reference need.
 * @param {{ env: NodeJS.ProcessEnv, say: (message: string) => void }} run
 */
export async function installTestLibraries(run) {
  await installApart(testLibraries, 'what only tests need', run, async () => undefined);
}

/**
 * Installs the MCP clients that only the tests use, which are large.
 * @param {{ env: NodeJS.ProcessEnv, say: (message: string) => void }} run
 */
export async function installTestClients(run) {
  await installApart(testClients, 'the test clients', run, async () => {
    if (lacksClaudeCode()) await runScriptsOf(claudeCode, testClients, run.env);
  });
}

/**
 * Installs what vendors publish of their interfaces, which only the tests read.
 * @param {{ env: NodeJS.ProcessEnv, say: (message: string) => void }} run
 */
export async function installTestSchemas(run) {
  await installApart(testSchemas, "the vendors' schemas", run, async () => undefined);
}

/**
 * @param {string} folder
 * @param {string} what
 * @param {{ env: NodeJS.ProcessEnv, say: (message: string) => void }} run
 * @param {() => Promise<void>} finish what npm leaves to do; also where it was broken off there before
 */
async function installApart(folder, what, { env, say }, finish) {
  const install = async () => {
    if (!isInstalled(folder)) {
      say(`installing ${what} (npm ci in ${relative(root, folder)})`);
      await runNpm(['ci'], folder, env);
    }
    await finish();
  };
  await exclusively(`${devDirectory}/install-${basename(folder)}.lock`, install, say);
}

/** Its install script puts the program where a stub is, which only says that it is none. */
function lacksClaudeCode() {
  const program = `${testClients}/node_modules/${claudeCode}/bin/claude.exe`;
  return statSync(program).size < MOST_BYTES_OF_A_STUB;
}

/** Install scripts are off (see .npmrc), but this package fetches its program in one. @param {string} name @param {string} folder @param {NodeJS.ProcessEnv} env */
async function runScriptsOf(name, folder, env) {
  await runNpm(['rebuild', name, '--ignore-scripts=false'], folder, env);
}

/** @param {string[]} args @param {string} cwd @param {NodeJS.ProcessEnv} env */
async function runNpm(args, cwd, env) {
  const quiet = ['--loglevel=error', '--no-fund', '--no-audit', '--no-update-notifier'];
  if (await succeeds([...npm, ...args, ...quiet], { cwd, env, output: 'errors' })) return;
  throw new Error(`npm ${args.join(' ')} failed`);
}

/**
 * Compares what is locked with npm's own record of what it has installed. Optional packages are for other systems.
 * @param {string} folder
 */
function isInstalled(folder) {
  const locked = packagesOf(`${folder}/package-lock.json`);
  const installed = packagesOf(`${folder}/node_modules/.package-lock.json`);
  return Object.entries(locked)
    .filter(([path, entry]) => path.startsWith('node_modules/') && !entry.optional && !entry.link)
    .every(([path, { version, integrity }]) => {
      const present = installed[path];
      return present?.version === version && present?.integrity === integrity;
    });
}

/** @param {string} lockFile @returns {Packages} */
function packagesOf(lockFile) {
  try {
    return JSON.parse(readFileSync(lockFile, 'utf8')).packages ?? {};
  } catch {
    return {}; // nothing is installed yet
  }
}
