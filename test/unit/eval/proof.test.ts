/** The numbers that proofs must reach, as far as they follow from the rules. `npm run eval -- proof` prints them. */
import assert from 'node:assert/strict';
import { ruleRows, tableOf } from '../../eval/proof.ts';

describe('the evaluation of proofs', () => {
  it('reaches every number that follows from the rules', async () => {
    const rows = await ruleRows({ tasks: 1000, histories: 100 });
    assert.ok(
      rows.every(({ isReached }) => isReached),
      tableOf(rows),
    );
  });
});
