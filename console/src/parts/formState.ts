/** State of forms. The response to a call does not erase text that the person typed during the call. */
import type { Signal } from '@preact/signals';

/**
 * Clears a field after its value was sent, unless the field has changed during the call.
 * @param empty initial value of the field
 */
export function clearSent<Value>(sent: Value, field: Signal<Value>, empty: Value): void {
  if (field.value === sent) field.value = empty;
}
