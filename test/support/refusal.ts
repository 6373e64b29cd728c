import assert from 'node:assert/strict';
import { MusterError } from '../../functions/src/kernel/errors.ts';

/** Returns the MusterError that `act` throws or rejects with. */
export async function refusal(act: () => unknown): Promise<MusterError> {
  try {
    await act();
  } catch (error) {
    assert.ok(error instanceof MusterError, `not a MusterError: ${String(error)}`);
    return error;
  }
  assert.fail('nothing was refused');
}
