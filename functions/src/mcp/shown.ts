/** The parts of a request that errors and logs quote. */

const SHOWN_KEY_LENGTH = 60;
const SHOWN_KEYS = 8;
const SHOWN_VALUE_LENGTH = 100;

/** Returns a dotted path that may be shown, whatever the keys are: `tasks.3.priority`. */
export function fieldPath(keys: readonly PropertyKey[]): string {
  const shown = keys.slice(0, SHOWN_KEYS).map((key) => shownName(String(key)));
  return shown.join('.') + (keys.length > SHOWN_KEYS ? '.…' : '');
}

/** Returns a name of a request, shortened, with its unprintable characters replaced. */
export function shownName(name: string): string {
  const printable = name.slice(0, SHOWN_KEY_LENGTH).replace(/\p{C}/gu, '\ufffd');
  return name.length > SHOWN_KEY_LENGTH ? `${printable}…` : printable;
}

/** Returns whether a value is short and plain enough to be sent back. */
export function isShowable(value: unknown): value is string | number | boolean | null {
  if (typeof value === 'string') return value.length <= SHOWN_VALUE_LENGTH && shownName(value) === value;
  return value === null || typeof value === 'number' || typeof value === 'boolean';
}
