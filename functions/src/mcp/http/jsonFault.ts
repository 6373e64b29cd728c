/**
 * Finds where a text stops being JSON and what should stand there: `JSON.parse` often says neither. It is asked
 * only about a text that is none, walks without recursion, so that depth cannot hurt, and gives up in time.
 */

const EXPECTED = {
  value: 'a value',
  firstValue: 'a value or "]"',
  name: 'a name in double quotes',
  firstName: 'a name in double quotes or "}"',
  colon: '":"',
  moreNames: '"," or "}"',
  moreValues: '"," or "]"',
  end: 'nothing more',
} as const;

/** Where in the grammar a reader stands. */
type Place = keyof typeof EXPECTED;

type Steps = Readonly<Partial<Record<string, Place | 'after a value'>>>;

const VALUE: Steps = {
  string: 'after a value',
  scalar: 'after a value',
  '{': 'firstName',
  '[': 'firstValue',
};

/** Where each kind of token leads; none other may stand there. Source: RFC 8259, section 2. */
const STEPS: Readonly<Record<Place, Steps>> = {
  value: VALUE,
  firstValue: { ...VALUE, ']': 'after a value' },
  name: { string: 'colon' },
  firstName: { string: 'colon', '}': 'after a value' },
  colon: { ':': 'value' },
  moreNames: { ',': 'name', '}': 'after a value' },
  moreValues: { ',': 'value', ']': 'after a value' },
  end: {},
};

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
/** What a string cannot hold as it is: quotes, backslashes and what is below the space. */
const SPECIAL = /[^ !#-[\]-\uffff]/g;

/** Nobody looks for a comma further down, and the whole of a long text would take a second. */
export const LOOKED_AT = 256 * 1024;

class Fault extends Error {
  readonly at: number;

  constructor(at: number, expected: string) {
    super(expected);
    this.at = at;
  }
}

/** As in `line 3, column 7: expected ":", found "}"`; undefined where what is looked at is in order. */
export function jsonFault(text: string): string | undefined {
  try {
    scan(text);
    return undefined;
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault;
    const before = text.slice(0, fault.at).split('\n');
    const column = (before.at(-1)?.length ?? 0) + 1;
    return `line ${before.length}, column ${column}: expected ${fault.message}, found ${shown(text, fault.at)}`;
  }
}

function scan(text: string): void {
  const holders: string[] = [];
  let at = 0;
  let place: Place = 'value';
  for (;;) {
    at = matchEnd(SPACE, text, at) ?? at;
    if (at > LOOKED_AT || (at === text.length && place === 'end')) return;
    const { kind, end } = tokenAt(text, at);
    const next = placeAfter(kind, place, holders);
    if (next === undefined) throw new Fault(at, EXPECTED[place]);
    place = next;
    at = end;
  }
}

/** @param holders the brackets that are open, which it keeps */
function placeAfter(kind: string, place: Place, holders: string[]): Place | undefined {
  if (kind === '{' || kind === '[') holders.push(kind);
  if (kind === '}' || kind === ']') holders.pop();
  const next = STEPS[place][kind];
  if (next !== 'after a value') return next;
  const holder = holders.at(-1);
  if (holder === undefined) return 'end';
  return holder === '{' ? 'moreNames' : 'moreValues';
}

/** @returns its kind: `string`, `scalar`, or the character itself */
function tokenAt(text: string, at: number): { readonly kind: string; readonly end: number } {
  const character = text[at] ?? '';
  if (character === '"') return { kind: 'string', end: stringEnd(text, at) };
  const end = matchEnd(SCALAR, text, at);
  return end === undefined ? { kind: character, end: at + 1 } : { kind: 'scalar', end };
}

function stringEnd(text: string, start: number): number {
  for (let at = start + 1; ; ) {
    if (at > LOOKED_AT) return at;
    SPECIAL.lastIndex = at;
    const found = SPECIAL.exec(text);
    if (found === null) throw new Fault(text.length, `the end of the string that begins at ${start + 1}`);
    if (found[0] === '"') return found.index + 1;
    const end = matchEnd(ESCAPE, text, found.index);
    if (end === undefined) {
      const what = found[0] === '\\' ? 'an escape such as \\n or \\\\' : 'its escape, such as \\n';
      throw new Fault(found.index, what);
    }
    at = end;
  }
}

function matchEnd(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

function shown(text: string, at: number): string {
  const code = text.codePointAt(at);
  if (code === undefined) return 'the end of the body';
  const character = String.fromCodePoint(code);
  return /\p{C}/u.test(character)
    ? `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
    : JSON.stringify(character);
}
