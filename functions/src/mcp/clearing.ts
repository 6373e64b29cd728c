/** How an update removes a field: `clear` names it. Source: docs/semantics.md#the-endpoint. */

import { z } from 'zod';
import { MusterError } from '../kernel/errors.ts';

/** The optional argument that names the fields that an update removes. */
export function clearArgument<const Fields extends readonly [string, ...string[]]>(...fields: Fields) {
  return z.array(z.enum(fields)).optional().describe('Fields to remove');
}

/**
 * Returns how an update changes one field: the new value; null if `clear` names the field; undefined if it stays.
 * @throws MusterError VALIDATION_ERROR if the field has a new value and `clear` names it
 */
export function clearing<Field extends string>(clear: readonly Field[] = []) {
  return <Value>(field: Field, value: Value | undefined): Value | null | undefined => {
    if (!clear.includes(field)) return value;
    if (value === undefined) return null;
    throw new MusterError('VALIDATION_ERROR', `Argument "${field}" is given, and clear names it.`, {
      field,
      reason: 'GIVEN_AND_CLEARED',
      suggestion: `Leave "${field}" out to remove it, or take it out of clear to set it.`,
    });
  };
}
