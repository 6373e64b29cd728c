import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { AuditEffect } from '../../../functions/src/kernel/auditLog.ts';
import type { Fields } from '../../../functions/src/kernel/documentCodec.ts';
import { restoredFields, storedEffects } from '../../../functions/src/kernel/effects.ts';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import { forAll } from '../../support/properties.ts';

/** Texts, some of which are too long for an audit entry. */
const text = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.nat({ max: 150_000 }).map((length) => 'x'.repeat(length)),
);
const value = fc.oneof(text, fc.integer(), fc.constant(null), fc.array(fc.string(), { maxLength: 5 }));
const fields = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'dependents', 'title'), value, { minKeys: 1 });
const made = fc.array(fields, { minLength: 1, maxLength: 40 });

function effectsOf(all: readonly Fields[], before?: Fields): readonly AuditEffect[] {
  return all.map((after, number) => ({ kind: 'task', id: String(number), after, ...(before && { before }) }));
}

describe('recorded effects of a change in an audit entry', () => {
  it('fit into a document, however large the change is', () => {
    forAll(made, (all) => {
      const bytes = JSON.stringify(storedEffects(effectsOf(all))).length;
      assert.ok(bytes < 700_000, `${bytes}`);
    });
    const max = Array.from({ length: 500 }, () => ({ a: 'x'.repeat(20_000), b: Array(500).fill('t-12345678') }));
    assert.ok(JSON.stringify(storedEffects(effectsOf(max))).length < 700_000);
  });

  it('allow an undo unless a later change modified a changed field, even one too long to record', () =>
    forAll(made, fc.nat(), value, (all, at, other) => {
      const before = { title: 'Former' };
      for (const [number, effect] of storedEffects(effectsOf(all, before)).entries()) {
        const current = { ...all[number], untouched: 1 };
        assert.deepEqual(restoredFields(effect, current), { untouched: 1, ...before });
        const names = Object.keys(all[number] ?? {});
        const name = names[at % names.length] ?? '';
        if (JSON.stringify(all[number]?.[name]) === JSON.stringify(other)) continue;
        assert.throws(
          () => restoredFields(effect, { ...current, [name]: other }),
          (error) => error instanceof MusterError && error.message.includes(name),
        );
      }
    }));
});
