// @ts-check
import { randomInt } from 'node:crypto';
import { runSession } from '../processes/session.mjs';
import { installTestLibraries, installTestSchemas } from '../setup/install.mjs';
import { prepare } from '../setup/prepare.mjs';
import { checkChromium } from '../setup/prerequisites.mjs';
import { choose } from './arguments.mjs';
import { batchesOf, inOrder } from './batches.mjs';
import { checks, runCheck } from './checks.mjs';
import { Environments, startEmulators } from './environments.mjs';
import { recordedSeconds, recordTimes, specFiles } from './files.mjs';
import { runMocha } from './mocha.mjs';
import { inEmptyProject, lastFiles, nightlySeconds, serialFiles } from './suites.mjs';
import { secondsOfFiles, summary } from './summary.mjs';
import { runInWorkers } from './workers.mjs';

/**
 * @typedef {import('../processes/session.mjs').Session} Session
 * @typedef {import('./arguments.mjs').Choice} Choice
 * @typedef {import('./batches.mjs').Batch} Batch
 * @typedef {import('./mocha.mjs').Totals} Totals
 * @typedef {{ oneAtATime: boolean, emulators: boolean, run: () => Promise<Totals> }} Job
 */

/** @param {string[]} args */
export async function runTests(args) {
  const choice = choose(args);
  if (choice.chosen.some(({ chromium }) => chromium)) checkChromium();
  await runSession({ kind: 'test', interrupted: 130 }, async ({ run, say }) => {
    const began = performance.now();
    const session = { run: { ...run, env: { ...run.env, ...settings(run, choice) } }, say };
    const node = await prepare(session);
    await installTestLibraries({ env: run.env, say });
    await installTestSchemas({ env: run.env, say });
    const results = await runAll(choice, { session, node });
    if (choice.recordTimes) recordTimes(secondsOfFiles(results));
    process.stdout.write(summary(results, (performance.now() - began) / 1000));
    return results.every(({ failed }) => failed === 0) && results.some(({ passed }) => passed > 0) ? 0 : 1;
  });
}

/**
 * Returns the variables of every process of the run. Instances of a function share compiled code. Java's second
 * compiler is turned off, because it used half of the CPU time of Firestore's emulator.
 * @param {Session['run']} run
 * @param {Choice} choice
 * @returns {Record<string, string>}
 */
function settings(run, { nightly }) {
  const always = {
    NODE_COMPILE_CACHE: `${run.directory}/compiled`,
    JAVA_TOOL_OPTIONS: `${process.env.JAVA_TOOL_OPTIONS ?? ''} -XX:TieredStopAtLevel=1`,
  };
  if (!nightly) return always;
  const seed = process.env.MUSTER_SEED || String(randomInt(2 ** 31));
  process.stdout.write(`MUSTER_SEED=${seed}\n`);
  return { ...always, MUSTER_NIGHTLY: '1', MUSTER_SEED: seed };
}

/**
 * Runs the chosen tests.
 * @param {Choice} choice
 * @param {{ session: Session, node: string }} options
 * @returns {Promise<Totals[]>}
 */
async function runAll({ chosen, everything, nightly, mochaOptions }, { session, node }) {
  const { run } = session;
  const batches = batchesFor(chosen, nightly);
  const needing = batches.map(({ suite }) => suite).filter(({ emulators }) => emulators);
  // Jobs without emulators run while the emulators boot.
  const starting = needing.length > 0 ? startEmulators(needing, { session, node }) : undefined;
  const environments = starting?.then(({ env }) => new Environments(env, { node, run }));
  environments?.catch(() => {}); // a failure is reported by the jobs that wait for the emulators

  /** @type {Totals[]} */
  const results = [];
  /** @param {Batch} batch @returns {Job} */
  const jobOf = ({ suite, files }) => ({
    oneAtATime: suite.oneAtATime === true,
    emulators: suite.emulators,
    run: async () => {
      const env = suite.emulators ? await (await environments)?.of(suite) : undefined;
      return runMocha(files, {
        title: files.length === 1 ? `${files[0]}` : `${suite.name}, ${files.length} files`,
        seconds: nightly ? Math.max(nightlySeconds, suite.seconds) : suite.seconds,
        node,
        run,
        mochaOptions,
        env: env ?? {},
        live: batches.length === 1 && !everything,
      });
    },
  });
  /** @param {Job} job */
  const work = async (job) => {
    results.push(await job.run());
  };
  const tests = async () => {
    const checking = everything ? checkJobs(node, run.env) : [];
    await runInWorkers([...checking, ...inOrder(batches.filter(isShared)).map(jobOf)], work);
    for (const job of serialBatchesOf(batches).map(jobOf)) await work(job);
  };
  await Promise.race([tests(), ...(starting ? [crashOf(starting)] : [])]);
  return results;
}

/** @param {string} node @param {NodeJS.ProcessEnv} env @returns {Job[]} */
function checkJobs(node, env) {
  return Object.entries(checks(node)).map(([name, command]) => ({
    oneAtATime: false,
    emulators: false,
    run: () => runCheck(name, command, env),
  }));
}

/**
 * Returns the batches. A file that runs serially or in a dedicated project is one batch. Files of lastFiles are last.
 * @param {Choice['chosen']} chosen
 * @param {boolean} nightly
 */
function batchesFor(chosen, nightly) {
  const secondsOf = recordedSeconds();
  return chosen.flatMap((suite) => {
    const files = specFiles(suite.specs, nightly);
    const isSingle = (/** @type {string} */ file) => file in serialFiles || file in inEmptyProject;
    const shared = files.filter((file) => !isSingle(file));
    const single = files.filter(isSingle);
    const isLate = (/** @type {string} */ file) =>
      Object.keys(lastFiles).some((folder) => file.startsWith(`${folder}/`));
    return [
      ...batchesOf(
        suite,
        shared.filter((file) => !isLate(file)),
        secondsOf,
      ),
      ...single.map((file) => ({ suite, files: [file], seconds: secondsOf(file) })),
      ...batchesOf(suite, shared.filter(isLate), secondsOf),
    ];
  });
}

/** @param {Batch} batch */
function isShared({ files }) {
  return !files.some((file) => file in serialFiles);
}

/** Returns the serial batches in the order in which the suites list their files. @param {Batch[]} batches */
function serialBatchesOf(batches) {
  return Object.keys(serialFiles).flatMap((file) => batches.filter(({ files }) => files.includes(file)));
}

/** Rejects if the emulators end before the tests do. @param {ReturnType<typeof startEmulators>} starting */
async function crashOf(starting) {
  const { exited, output } = await starting;
  const reason = await exited;
  throw new Error(`${reason}; their log: ${output.file}`);
}
