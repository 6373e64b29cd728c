// @ts-check
/** Mocha's own report, and its figures in a file, for the sum over all suites. CommonJS, because mocha requires it. */
const { writeFileSync } = require('node:fs');
const { reporters, Runner } = require('mocha');

class TotalsReporter extends reporters.Spec {
  /** @param {import('mocha').Runner} runner @param {import('mocha').MochaOptions} options */
  constructor(runner, options) {
    super(runner, options);
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      const { passes, failures } = this.stats;
      const file = process.env.MUSTER_TEST_TOTALS;
      if (file !== undefined) writeFileSync(file, JSON.stringify({ passes, failures }));
    });
  }
}

module.exports = TotalsReporter;
