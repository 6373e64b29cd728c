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
    /** @type {Totals[]} */
    const results = [];
    if (everything) results.push(await runChecks({ node, env: run.env }));
    for (const suite of chosen.filter((one) => !one.emulators)) {
      results.push(await runMocha(suite, { node, run, env: {}, mochaOptions }));
    }
    const rest = chosen.filter((one) => one.emulators);
    if (rest.length > 0) results.push(...(await runWithEmulators(rest, { session, node, mochaOptions })));
    return summarise(results);
  });
}

/**
 * @param {import('./suites.mjs').Suite[]} chosen
 * @param {{ session: Session, node: string, mochaOptions: string[] }} options
 * @returns {Promise<Totals[]>}
 */
async function runWithEmulators(chosen, { session, node, mochaOptions }) {
  const { run, say } = session;
  if (chosen.some(isEndToEnd)) await installTestClients({ env: run.env, say });
  const output = openOutput(run, 'test-emulators', { screen: false });
  const parameters = chosen.some(isEndToEnd) ? await startVendors({ node, env: run.env, output }) : undefined;
  const suite = { run, node, ports: await freePorts(), output, say };
  const emulators = await startSuite({ ...suite, ...(parameters && { parameters }) });
  /** @type {Totals[]} */
  const results = [];
  const tests = async () => {
    for (const suite of chosen) {
      if (isEndToEnd(suite)) await endpointAnswers(emulators.env.MUSTER_MCP_URL ?? '');
      results.push(
        await runMocha(suite, { node, run, env: { ...parameters, ...emulators.env }, mochaOptions }),
      );
    }
  };
  const crash = emulators.exited.then((reason) => {
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
