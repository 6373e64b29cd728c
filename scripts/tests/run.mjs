// @ts-check
import { endpointAnswers } from '../emulators/answers.mjs';
import { startLocalService } from '../emulators/localService.mjs';
import { openOutput } from '../emulators/output.mjs';
import { freePorts } from '../emulators/ports.mjs';
import { startSuite } from '../emulators/suite.mjs';
import { runSession } from '../processes/session.mjs';
import { installTestClients } from '../setup/install.mjs';
import { prepare } from '../setup/prepare.mjs';
import { runChecks } from './checks.mjs';
import { runMocha } from './mocha.mjs';
import { chooseSuites } from './suites.mjs';

/**
 * @typedef {import('../processes/session.mjs').Session} Session
 * @typedef {import('./mocha.mjs').Totals} Totals
 */

/** @param {string[]} args */
export async function runTests(args) {
  await runSession({ kind: 'test', interrupted: 130 }, async (session) => {
    const { chosen, everything, mochaOptions } = chooseSuites(args);
    const { run } = session;
    const node = await prepare(session);
    const rest = chosen.filter((one) => one.emulators);
    // They take a while to boot, in which what needs none of them is run.
    const emulators = rest.length > 0 ? startEmulators(rest, { session, node }) : undefined;
    emulators?.catch(() => {}); // it is told below
    /** @type {Totals[]} */
    const results = [];
    if (everything) results.push(await runChecks({ node, env: run.env }));
    for (const suite of chosen.filter((one) => !one.emulators)) {
      results.push(await runMocha(suite, { node, run, env: {}, mochaOptions }));
    }
    if (emulators) results.push(...(await runWith(await emulators, rest, { run, node, mochaOptions })));
    return summarise(results);
  });
}

/**
 * @param {import('./suites.mjs').Suite[]} suites that need them
 * @param {{ session: Session, node: string }} options
 */
async function startEmulators(suites, { session: { run, say }, node }) {
  const output = openOutput(run, 'test-emulators', { screen: false });
  const isWhole = suites.some(isEndToEnd);
  if (isWhole) await installTestClients({ env: run.env, say });
  const parameters = isWhole ? await startVendors({ node, env: run.env, output }) : undefined;
  const suite = { run, node, ports: await freePorts(), output, say };
  const { env, exited } = await startSuite({ ...suite, ...(parameters && { parameters }) });
  return { env: { ...parameters, ...env }, exited, output };
}

/**
 * @param {Awaited<ReturnType<typeof startEmulators>>} emulators
 * @param {import('./suites.mjs').Suite[]} suites
 * @param {{ run: Session['run'], node: string, mochaOptions: string[] }} options
 * @returns {Promise<Totals[]>}
 */
async function runWith({ env, exited, output }, suites, { run, node, mochaOptions }) {
  /** @type {Totals[]} */
  const results = [];
  const tests = async () => {
    for (const suite of suites) {
      if (isEndToEnd(suite)) await endpointAnswers(env.MUSTER_MCP_URL ?? '');
      results.push(await runMocha(suite, { node, run, env, mochaOptions }));
    }
  };
  const crash = exited.then((reason) => {
    throw new Error(`${reason}; what they logged: ${output.file}`);
  });
  await Promise.race([tests(), crash]);
  crash.catch(() => {}); // from here on it is we who stop them
  return results;
}

/** @param {Parameters<typeof startLocalService>[1]} options */
async function startVendors(options) {
  const [github, models] = await Promise.all([
    startLocalService('github', options),
    startLocalService('models', options),
  ]);
  return { ...github, ...models };
}

/** @param {import('./suites.mjs').Suite} suite */
function isEndToEnd({ specs }) {
  return specs.startsWith('test/e2e');
}

/**
 * What failed comes last, where whoever sees only the end of a long log finds it.
 * @param {Totals[]} results
 */
function summarise(results) {
  const passed = results.reduce((sum, one) => sum + one.passed, 0);
  const failed = results.reduce((sum, one) => sum + one.failed, 0);
  process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
  for (const failure of results.flatMap((one) => one.failures))
    process.stdout.write(`\nfailed: ${failure}\n`);
  return failed === 0 && passed > 0 ? 0 : 1;
}
