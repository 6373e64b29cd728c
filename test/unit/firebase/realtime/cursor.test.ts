import assert from 'node:assert/strict';
import fc from 'fast-check';
import { MusterError } from '../../../../functions/src/kernel/errors.ts';
import { systemHashing } from '../../../../functions/src/kernel/platform.ts';
import { BRANCH } from '../../../../functions/src/toolsets/firebase/realtime/order.ts';
import { Cursors, MAX_TIES, type RealtimeCursor } from '../../../../functions/src/toolsets/firebase/realtime/paging.ts';
import { forAll } from '../../../support/properties.ts';

const QUERY = ['shared/a', 'v', null, null];
const cursors = new Cursors(systemHashing, QUERY);
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((one) => one + 0);
const bound = fc.oneof(fc.string({ maxLength: 200 }), number, fc.boolean(), fc.constant(null));

const position: fc.Arbitrary<RealtimeCursor> = fc.record(
  {
    from: bound,
    given: fc.integer({ min: 1, max: MAX_TIES }),
    rank: fc.oneof(bound, fc.constant<typeof BRANCH>(BRANCH)),
    key: fc.string({ minLength: 1, maxLength: 100 }),
  },
  { noNullPrototype: true },
);

const refused = (error: unknown) => error instanceof MusterError && error.code === 'VALIDATION_ERROR';

describe('cursors of the Realtime Database', () => {
  it('keep their contents when they are encoded and decoded', () =>
    forAll(position, (one) => assert.deepEqual(cursors.decode(cursors.encode(one)), one)));

  it('are rejected if they are sent with another query', () =>
    forAll(position, fc.integer({ min: 0, max: 3 }), (one, index) => {
      const other = new Cursors(systemHashing, QUERY.with(index, 'other'));
      assert.throws(() => other.decode(cursors.encode(one)), refused);
    }));

  it('are rejected if the server has not created them', () => {
    const text = fc.oneof(
      fc.string(),
      fc.base64String(),
      fc.json().map((one) => Buffer.from(one).toString('base64url')),
    );
    forAll(text, (one) => assert.throws(() => cursors.decode(one), refused));
  });

  it('are rejected if they are too long or skip too many entries with the same value', () => {
    const end = { from: 'a', given: 1, rank: 'a', key: 'k' };
    assert.throws(() => cursors.encode({ ...end, given: MAX_TIES + 1 }), refused);
    assert.throws(() => cursors.encode({ ...end, rank: 'x'.repeat(4000) }), refused);
  });
});
