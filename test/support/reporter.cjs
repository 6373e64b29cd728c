// @ts-check
/**
 * Mocha's spec reporter, which also writes its counts, its failures and the duration of each test file to a file, for
 * the summary of all test processes. This is a CommonJS module, because mocha requires one.
 */
const { writeFileSync } = require('node:fs');
const { relative } = require('node:path');
const { reporters, Runner } = require('mocha');

/** Returns the stack of an error and of all its causes. @param {Error} error @returns {string} */
function told({ stack, message, cause }) {
  const said = stack ?? message;
  return cause instanceof Error ? `${said}\ncaused by ${told(cause)}` : said;
}

class TotalsReporter extends reporters.Spec {
  /** @param {import('mocha').Runner} runner @param {import('mocha').MochaOptions} options */
  constructor(runner, options) {
    super(runner, options);
    /** @type {string[]} */
    const failures = [];
    /** @type {Record<string, number>} */
    const seconds = {};
    let began = performance.now();
    runner.on(Runner.constants.EVENT_SUITE_BEGIN, (suite) => {
      if (suite.parent?.root) began = performance.now();
    });
    runner.on(Runner.constants.EVENT_SUITE_END, (suite) => {
      if (!suite.parent?.root || suite.file === undefined) return;
      const file = relative(process.cwd(), suite.file);
      seconds[file] = (seconds[file] ?? 0) + (performance.now() - began) / 1000;
    });
    runner.on(Runner.constants.EVENT_TEST_FAIL, (test, error) => {
      failures.push(`${test.fullTitle()}\n${told(error)}`);
    });
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      const file = process.env.MUSTER_TEST_TOTALS;
      const { passes: passed, failures: failed } = this.stats;
      if (file !== undefined) writeFileSync(file, JSON.stringify({ passed, failed, failures, seconds }));
    });
  }
}

module.exports = TotalsReporter;
