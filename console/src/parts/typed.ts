/** What a person types while a call is under way is theirs: an answer does not erase it. */
import type { Signal } from '@preact/signals';

/**
 * Empties a field of what was sent, unless it has become something else meanwhile.
 * @param empty what the field has before anybody types
 */
export function clearSent<Value>(sent: Value, field: Signal<Value>, empty: Value): void {
  if (field.value === sent) field.value = empty;
}
