import assert from 'node:assert/strict';
import { MusterError } from '../../functions/src/kernel/errors.ts';

/** Returns the MusterError that `act` throws or rejects with. */
export async function refusal(act: () => unknown): Promise<MusterError> {
  try {
    await act();
  } catch (error) {
    return musterError(error);
  }
  assert.fail('expected a MusterError, but no error was thrown');
}

/** Returns the MusterError that `act` throws. */
export function thrownRefusal(act: () => unknown): MusterError {
  try {
    act();
  } catch (error) {
    return musterError(error);
  }
  assert.fail('expected a MusterError, but no error was thrown');
}

function musterError(error: unknown): MusterError {
  assert.ok(error instanceof MusterError, `expected a MusterError, but got: ${String(error)}`);
  return error;
}
