// @ts-check
/** Mocha's own report, and its figures and failures in a file, for the summary over all suites. CommonJS, because mocha requires it. */
const { writeFileSync } = require('node:fs');
const { reporters, Runner } = require('mocha');

class TotalsReporter extends reporters.Spec {
  /** @param {import('mocha').Runner} runner @param {import('mocha').MochaOptions} options */
  constructor(runner, options) {
    super(runner, options);
    /** @type {string[]} */
    const failed = [];
    runner.on(Runner.constants.EVENT_TEST_FAIL, (test, error) => {
      failed.push(`${test.fullTitle()}\n${error.stack ?? error.message}`);
    });
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      const { passes, failures } = this.stats;
      const file = process.env.MUSTER_TEST_TOTALS;
      if (file !== undefined) writeFileSync(file, JSON.stringify({ passes, failures, failed }));
    });
  }
}

module.exports = TotalsReporter;
