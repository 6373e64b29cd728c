/** The numbers that proofs must reach with the databases. `npm run eval -- proof` prints them. */
import assert from 'node:assert/strict';
import { storedRows, tableOf } from '../../eval/proof.ts';
import { defaultOrNightly } from '../../support/nightly.ts';

describe('the evaluation of proofs', function () {
  this.timeout('20m');

  it('reaches every number that is measured with the databases', async () => {
    const kills = defaultOrNightly(6, { night: 501 });
    const rows = await storedRows({ handIns: 20, concurrent: defaultOrNightly(2, { night: 20 }), kills });
    assert.ok(
      rows.every(({ isReached }) => isReached),
      tableOf(rows),
    );
  });
});
