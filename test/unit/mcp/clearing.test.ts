import assert from 'node:assert/strict';
import fc from 'fast-check';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import { clearArgument, clearedFields } from '../../../functions/src/mcp/tool.ts';
import { forAll } from '../../support/properties.ts';

const FIELDS = ['description', 'due_date', 'hints'] as const;

describe('clear', () => {
  it('removes the named fields; all other fields are kept or get their new values', () => {
    const value = fc.option(fc.oneof(fc.string(), fc.integer(), fc.constant(false)), { nil: undefined });
    forAll(fc.array(fc.constantFrom(...FIELDS)), fc.constantFrom(...FIELDS), value, (clear, field, given) => {
      const change = () => clearedFields(clear)(field, given);
      if (!clear.includes(field)) assert.equal(change(), given);
      else if (given === undefined) assert.equal(change(), null);
      else
        assert.throws(change, (error) => {
          assert.ok(error instanceof MusterError);
          assert.deepEqual([error.code, error.details.field], ['VALIDATION_ERROR', field]);
          return error.message.includes(field);
        });
    });
    assert.equal(clearedFields<'hints'>()('hints', undefined), undefined);
  });

  it('accepts only the names of fields that a caller may remove', () => {
    const argument = clearArgument('hints', 'due_date');
    for (const taken of [undefined, [], ['hints'], ['hints', 'due_date', 'hints']])
      assert.deepEqual(argument.safeParse(taken), { success: true, data: taken });
    for (const refused of ['hints', ['id'], [null], ['hints', 'Due_date'], {}, null])
      assert.equal(argument.safeParse(refused).success, false, JSON.stringify(refused));
  });
});
