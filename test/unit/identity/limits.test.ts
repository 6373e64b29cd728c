/** Limits of new credentials, such as toolsets or a workspace. Only a person may loosen these limits. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Limits } from '../../../functions/src/identity/rules/credential.ts';
import { grantedLimits, type WantedLimits } from '../../../functions/src/identity/rules/lineage.ts';
import { type Principal, TOOLSETS } from '../../../functions/src/identity/rules/principal.ts';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';
import { agentOf, personOf } from '../../support/principals.ts';
import { forAll } from '../../support/properties.ts';

const places = ['alpha', 'beta'] as const;
const lists = fc.subarray([...TOOLSETS]);
const place = fc.constantFrom(...places);
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });

const limits: fc.Arbitrary<Limits> = fc
  .record({ toolsets: maybe(lists), heldTo: maybe(place), readonly: maybe(fc.constant(true as const)) })
  .map(({ toolsets, heldTo, readonly }) => ({
    ...(toolsets && { toolsets }),
    ...(heldTo && { heldTo }),
    ...(readonly && { readonly }),
  }));

const wishes: fc.Arbitrary<WantedLimits> = fc.record({
  toolsets: fc.oneof(maybe(lists), fc.constant(null)),
  heldTo: fc.oneof(maybe(place), fc.constant(null)),
  readonly: maybe(fc.boolean()),
});

/** Returns everything that a credential permits: each toolset in each workspace, for reading and for changing. */
function opened({ toolsets: named, held_to: heldTo, readonly }: Limits): ReadonlySet<string> {
  const all = (named ?? TOOLSETS).flatMap((toolset) =>
    places
      .filter((workspace) => heldTo === undefined || heldTo === workspace)
      .flatMap((workspace) =>
        (readonly ? ['read'] : ['read', 'change']).map((what) => `${what} ${toolset} in ${workspace}`),
      ),
  );
  return new Set(all);
}

/** Returns everything that the new credential permits, or undefined if the registration is rejected. */
function granted(...of: Parameters<typeof grantedLimits>): ReadonlySet<string> | undefined {
  try {
    return opened(grantedLimits(...of));
  } catch (error) {
    assert.ok(error instanceof MusterError && error.code === 'FORBIDDEN', String(error));
    assert.ok(error.details.field !== undefined && error.details.suggestion !== undefined);
    return undefined;
  }
}

const within = (inner: ReadonlySet<string>, outer: ReadonlySet<string>) => [...inner].every((one) => outer.has(one));
const worker = (own: Limits): Principal => ({ ...agentOf('fellow', 'ada', 'leader'), ...own });
const person = (own: Limits): Principal => ({ ...personOf('ada', 'worker'), ...own });

describe('limits of a new credential', () => {
  it('can be set for every known toolset', () => {
    const expected = toolsets.map(({ name }) => name);
    assert.deepEqual([...TOOLSETS], expected);
    assert.throws(() => grantedLimits(person({}), [], { toolsets: ['todos'] }), {
      code: 'VALIDATION_ERROR',
      message: /"todos"/,
    });
  });

  it("never permit more than the caller's limits", () =>
    forAll(limits, fc.array(limits, { maxLength: 2 }), wishes, (own, old, wanted) => {
      for (const caller of [worker(own), person(own)]) {
        const now = granted(caller, old, wanted);
        if (now !== undefined) assert.ok(within(now, opened(own)));
      }
    }));

  it('never permit more than the previous limits, unless a person requests it', () =>
    forAll(limits, fc.array(limits, { maxLength: 2 }), wishes, (own, old, wanted) => {
      const byAgent = granted(worker(own), old, wanted);
      const unsaid = granted(person(own), old);
      for (const now of [byAgent, unsaid])
        if (now !== undefined) assert.ok(old.every((before) => within(now, opened(before))));
    }));

  it('never permit more than was requested', () =>
    forAll(limits, limits, wishes, (own, old, wanted) => {
      const { toolsets: named, held_to: heldTo, readonly } = wanted;
      const asked: Limits = {
        ...(named && { toolsets: named }),
        ...(heldTo && { held_to: heldTo }),
        ...(readonly && { readonly }),
      };
      for (const caller of [worker(own), person(own)]) {
        const now = granted(caller, [old], wanted);
        if (now !== undefined) assert.ok(within(now, opened(asked)));
      }
    }));

  it("are equal to the caller's limits if a person removes all other limits", () =>
    forAll(limits, limits, (own, old) => {
      const lifted = granted(person(own), [old], { toolsets: null, held_to: null, readonly: false });
      assert.deepEqual(lifted, opened(own));
    }));
});
