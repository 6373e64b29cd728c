import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type Bucket, draw } from '../../../functions/src/limits/rules/rateLimiter.ts';
import { forAll } from '../../support/properties.ts';

const LIMIT = { perSecond: 10, burst: 50 };

describe('token bucket', () => {
  it('is full before tokens are first taken from it', () => {
    const drawn = draw(undefined, LIMIT, { owed: 0, wanted: 60 }, 1000);
    assert.deepEqual(drawn, { bucket: { tokens: 0, at: 1000 }, granted: 50, waitMilliseconds: 100 });
  });

  it('fills over time, up to its burst size', () => {
    const empty = { tokens: 0, at: 1000 };
    assert.equal(draw(empty, LIMIT, { owed: 0, wanted: 100 }, 2500).granted, 15);
    assert.equal(draw(empty, LIMIT, { owed: 0, wanted: 100 }, 1_000_000).granted, 50);
  });

  it('may go below zero, and grants tokens again once this debt is paid off', () => {
    const { bucket, granted, waitMilliseconds } = draw({ tokens: 3, at: 0 }, LIMIT, { owed: 8, wanted: 5 }, 0);
    assert.deepEqual(
      { bucket, granted, waitMilliseconds },
      { bucket: { tokens: -5, at: 0 }, granted: 0, waitMilliseconds: 600 },
    );
    assert.equal(draw(bucket, LIMIT, { owed: 0, wanted: 5 }, 599).granted, 0);
    assert.equal(draw(bucket, LIMIT, { owed: 0, wanted: 5 }, 600).granted, 1);
  });

  it('accepts returned tokens, up to its burst size', () => {
    const given = draw({ tokens: 10, at: 0 }, LIMIT, { owed: -5, wanted: 0 }, 0);
    assert.equal(given.bucket.tokens, 15);
    assert.equal(draw({ tokens: 48, at: 0 }, LIMIT, { owed: -5, wanted: 0 }, 0).bucket.tokens, 50);
  });

  it('is not filled twice for the same time by instances whose clocks differ', () => {
    const { bucket } = draw({ tokens: 0, at: 0 }, LIMIT, { owed: 0, wanted: 0 }, 1000);
    const slow = draw(bucket, LIMIT, { owed: 0, wanted: 0 }, 200);
    assert.deepEqual(slow.bucket, bucket);
    assert.equal(draw(slow.bucket, LIMIT, { owed: 0, wanted: 0 }, 1000).bucket.tokens, 10);
  });

  it("does not make callers wait if another instance's clock was an hour ahead", () => {
    const { bucket } = draw({ tokens: 0, at: 3_600_000 }, LIMIT, { owed: 0, wanted: 0 }, 0);
    assert.equal(draw(bucket, LIMIT, { owed: 0, wanted: 0 }, 1000).bucket.tokens, 10);
  });

  it('reports the exact waiting time, and never grants more than burst and rate allow', () => {
    const step = fc.record({ pass: fc.nat(2000), owed: fc.integer({ min: -5, max: 10 }), wanted: fc.nat(80) });
    forAll(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
      let bucket: Bucket | undefined;
      let now = 0;
      let taken = 0;
      for (const { pass, ...wanted } of steps) {
        now += pass;
        const drawn = draw(bucket, LIMIT, wanted, now);
        taken += drawn.granted + wanted.owed;
        bucket = drawn.bucket;
        assert.ok(drawn.granted <= wanted.wanted && bucket.tokens <= LIMIT.burst);
        // Tokens that are returned to a full bucket are lost.
        assert.ok(taken + bucket.tokens <= LIMIT.burst + (LIMIT.perSecond * now) / 1000 + 1e-6);
        const { waitMilliseconds } = drawn;
        if (waitMilliseconds === 0) continue;
        const asked = { owed: 0, wanted: 1 };
        assert.equal(draw(bucket, LIMIT, asked, now + waitMilliseconds).granted, 1);
        assert.equal(draw(bucket, LIMIT, asked, now + waitMilliseconds - 1).granted, 0);
      }
    });
  });
});
