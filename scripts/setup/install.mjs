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
const MAX_BYTES_OF_A_STUB = 4096;

/**
 * The npm that started this process, and the Node that runs that npm. The Node of this process is not used, because
 * it may be in the node_modules that npm is about to replace.
 */
const { npm_node_execpath: npmsNode = process.execPath, npm_execpath: npmsProgram } = process.env;
const npm = npmsProgram === undefined ? ['npm'] : [npmsNode, npmsProgram];

/**
 * Installs the locked dependencies, unless they are already installed.
 * @param {{ env: NodeJS.ProcessEnv, say: (message: string) => void }} run
 */
export async function installDependencies({ env, say }) {
  await exclusively(
    `${devDirectory}/install.lock`,
    async () => {
      if (!isInstalled(root)) {
        say('installing dependencies with npm ci (1 to 2 minutes)');
        await runNpm(['ci'], root, env);
      }
      if (lacksNode22()) await installNode22(env);
    },
    say,
  );
}

/** Skips Node's headers: 66 MB that only native builds need. @param {NodeJS.ProcessEnv} env */
async function installNode22(env) {
  await runScriptsOf('node', root, env);
  rmSync(`${root}/node_modules/node/node_modules`, { recursive: true, force: true });
}

/**
 * Installs the packages that tests, the style check and the generated reference need.
 * @param {{ env: NodeJS.ProcessEnv, say: (message: string) => void }} run
 */
export async function installTestLibraries(run) {
  await installApart(testLibraries, 'test libraries', run, async () => undefined);
}

/**
 * Installs the MCP clients that the tests use. They are separate because they are large.
 * @param {{ env: NodeJS.ProcessEnv, say: (message: string) => void }} run
 */
export async function installTestClients(run) {
  await installApart(testClients, 'the test clients', run, async () => {
    if (lacksClaudeCode()) await runScriptsOf(claudeCode, testClients, run.env);
  });
}

/**
 * Installs the schemas that vendors publish, which the tests use.
 * @param {{ env: NodeJS.ProcessEnv, say: (message: string) => void }} run
 */
export async function installTestSchemas(run) {
  await installApart(testSchemas, "the vendors' schemas", run, async () => undefined);
}

/**
 * @param {string} folder
 * @param {string} what
 * @param {{ env: NodeJS.ProcessEnv, say: (message: string) => void }} run
 * @param {() => Promise<void>} finish work after npm has installed the packages. It is repeated if it was interrupted
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

/** Until the program is downloaded, a small stub is in its place, which only reports that the program is missing. */
function lacksClaudeCode() {
  const program = `${testClients}/node_modules/${claudeCode}/bin/claude.exe`;
  return statSync(program).size < MAX_BYTES_OF_A_STUB;
}

/** Install scripts are off (see .npmrc), but this package downloads its program in its script. @param {string} name @param {string} folder @param {NodeJS.ProcessEnv} env */
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
 * Returns whether npm's record of installed packages matches the lockfile. Optional packages may be missing.
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
    return {}; // no packages are installed yet
  }
}
