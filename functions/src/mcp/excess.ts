/** How much a JSON text holds, told from its bytes: to parse what is refused anyway would cost the most. */

export interface Excess {
  readonly depth: number;
  readonly values: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/** Space, tab, line feed, carriage return. */
const WHITESPACE: readonly (number | undefined)[] = [0x20, 0x09, 0x0a, 0x0d];

/** How many levels a bracket leads down. */
const LEVELS: ReadonlyMap<number | undefined, number> = new Map([
  [0x5b, 1],
  [0x7b, 1],
  [0x5d, -1],
  [0x7d, -1],
]);

/**
 * Of what a JSON text holds too much. Each value but the outermost is the first within its brackets or comes after a
 * comma, outside of strings; no byte within a longer character of UTF-8 is any of these. What is no JSON is counted
 * somehow, and fails to parse if it gets so far.
 */
export function excessOf(json: Uint8Array, most: Excess): keyof Excess | undefined {
  let values = 1;
  let depth = 0;
  let isOpened = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (WHITESPACE.includes(byte)) continue;
    const levels = LEVELS.get(byte) ?? 0;
    if (byte === COMMA || (isOpened && levels >= 0)) values += 1;
    if (byte === QUOTE) at = endOfString(json, at);
    isOpened = levels > 0;
    depth += levels;
    if (depth > most.depth) return 'depth';
    if (values > most.values) return 'values';
  }
  return undefined;
}

/** Where the string ends that begins at `start`. */
function endOfString(json: Uint8Array, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    if (json[at] === BACKSLASH) at += 1;
    else if (json[at] === QUOTE) return at;
  }
  return json.length;
}
