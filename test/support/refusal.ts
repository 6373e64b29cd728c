import assert from 'node:assert/strict';
import { MusterError } from '../../functions/src/kernel/errors.ts';

/** Returns the MusterError that `act` throws or rejects with. */
export async function refusal(act: () => unknown): Promise<MusterError> {
  try {
    await act();
  } catch (error) {
    assert.ok(error instanceof MusterError, `expected a MusterError, but got: ${String(error)}`);
    return error;
  }
  assert.fail('expected a MusterError, but no error was thrown');
}
