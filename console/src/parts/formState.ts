/** Form state. A response does not erase text that a person types during the call. */
import type { Signal } from '@preact/signals';

/**
 * Clears a sent value from a field, unless the field has changed since.
 * @param empty initial value of the field
 */
export function clearSent<Value>(sent: Value, field: Signal<Value>, empty: Value): void {
  if (field.value === sent) field.value = empty;
}
