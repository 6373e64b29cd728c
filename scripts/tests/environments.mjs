// @ts-check

import { startClientDocuments } from '../emulators/clientDocuments.mjs';
import { startLocalService } from '../emulators/localService.mjs';
import { openOutput } from '../emulators/output.mjs';
import { freePorts } from '../emulators/ports.mjs';
import { endpointReady } from '../emulators/readiness.mjs';
import { startSuite } from '../emulators/suite.mjs';
import { root } from '../project.mjs';
import { succeeds } from '../setup/command.mjs';
import { installTestClients } from '../setup/install.mjs';
import { ownProject } from './ownProject.mjs';

/**
 * @typedef {import('../processes/session.mjs').Session} Session
 * @typedef {import('./suites.mjs').Suite} Suite
 */

/**
 * Starts the emulators and, for end-to-end suites, the local programs that stand in for vendors.
 * @param {Suite[]} suites that need emulators
 * @param {{ session: Session, node: string }} options
 */
export async function startEmulators(suites, { session: { run, say }, node }) {
  const output = openOutput(run, 'test-emulators', { screen: false });
  const isWhole = suites.some(isEndToEnd);
  if (isWhole) await installTestClients({ env: run.env, say });
  const played = { node, env: run.env, output };
  const parameters = isWhole ? await startVendors(played) : undefined;
  const clientDocumentsUrl = isWhole ? await startClientDocuments() : undefined;
  const options = { run, node, ports: await freePorts(), output, say };
  const { env, exited } = await startSuite({
    ...options,
    ...(parameters && { parameters }),
    ...(clientDocumentsUrl !== undefined && { clientDocumentsUrl }),
  });
  return { env: { ...parameters, ...env }, exited, output };
}

/** Environment variables of the test processes. */
export class Environments {
  /**
   * @param {Record<string, string>} env variables that reach the emulators
   * @param {{ node: string, run: Session['run'] }} options
   */
  constructor(env, { node, run }) {
    this.env = env;
    this.node = node;
    this.run = run;
    this.projects = 0;
    /** @type {Promise<void> | undefined} */
    this.deployed = undefined;
  }

  /**
   * Returns the variables of a test process, with a dedicated project if the suite allows that. Firestore's emulator
   * scans a whole project for every query, so the documents of earlier tests would slow down each later test.
   * @param {Suite} suite
   * @returns {Promise<Record<string, string>>}
   */
  async of(suite) {
    if (isEndToEnd(suite)) {
      this.deployed ??= this.deploy();
      await this.deployed;
    }
    if (!suite.ownProject) return this.env;
    this.projects += 1;
    return ownProject(this.env, `tests-${this.projects}`);
  }

  /** Waits for the endpoint, and creates the accounts whose credentials the tests use. */
  async deploy() {
    await endpointReady(this.env.MUSTER_MCP_URL ?? '');
    const seed = [this.node, '--disable-warning=ExperimentalWarning', `${root}/scripts/seed.mjs`];
    const seeded = await succeeds(seed, { env: { ...this.run.env, ...this.env }, output: 'errors' });
    if (!seeded) throw new Error('cannot seed the emulators');
  }
}

/** @param {Parameters<typeof startLocalService>[1]} options */
async function startVendors(options) {
  const [github, models] = await Promise.all([
    startLocalService('github', options),
    startLocalService('models', options),
  ]);
  return { ...github, ...models };
}

/** @param {Suite} suite */
function isEndToEnd({ name }) {
  return name === 'e2e';
}
