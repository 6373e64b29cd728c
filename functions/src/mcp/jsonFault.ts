/**
 * Finds where a text stops being JSON and what should stand there: `JSON.parse` often says neither. It is asked
 * only about a text that is none, walks without recursion, so that depth cannot hurt, and gives up in time.
 */

/** Where in the grammar a reader stands. Source: RFC 8259, section 2. */
type Expected = keyof typeof EXPECTED;

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

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
/** What a string cannot hold as it is: quotes, backslashes and what is below the space. */
const SPECIAL = /[^ !#-[\]-\uffff]/g;

/** Nobody looks for a comma further down, and the whole of a long text would take a second. */
export const LOOKED_AT = 256 * 1024;

/** As in `line 3, column 7: expected ":", found "}"`; undefined where what is looked at is in order. */
export function jsonFault(text: string): string | undefined {
  try {
    scan(text);
    return undefined;
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault;
    const before = text.slice(0, fault.at).split('\n');
    const column = (before.at(-1)?.length ?? 0) + 1;
    return `line ${before.length}, column ${column}: expected ${fault.expected}, found ${shown(text, fault.at)}`;
  }
}

class Fault extends Error {
  readonly at: number;
  readonly expected: string;

  constructor(at: number, expected: string) {
    super(expected);
    this.at = at;
    this.expected = expected;
  }
}

function scan(text: string): void {
  const holders: ('{' | '[')[] = [];
  let at = 0;
  let expected: Expected = 'value';
  for (;;) {
    at = matchEnd(SPACE, text, at) ?? at;
    if (at > LOOKED_AT || (at === text.length && expected === 'end')) return;
    const token = tokenAt(text, at);
    const next: Expected | undefined = token === undefined ? undefined : NEXT[expected](token, holders);
    if (token === undefined || next === undefined) throw new Fault(at, EXPECTED[expected]);
    at = token.end;
    expected = next;
  }
}

interface Token {
  readonly kind: 'string' | 'scalar' | '{' | '}' | '[' | ']' | ':' | ',';
  readonly end: number;
}

function tokenAt(text: string, at: number): Token | undefined {
  const character = text[at];
  if (character === '"') return { kind: 'string', end: stringEnd(text, at) };
  switch (character) {
    case '{':
    case '}':
    case '[':
    case ']':
    case ':':
    case ',':
      return { kind: character, end: at + 1 };
    default: {
      const end = matchEnd(SCALAR, text, at);
      return end === undefined ? undefined : { kind: 'scalar', end };
    }
  }
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
      throw new Fault(
        found.index,
        found[0] === '\\' ? 'an escape such as \\n or \\\\' : 'its escape, such as \\n',
      );
    }
    at = end;
  }
}

function matchEnd(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

type Step = (token: Token, holders: ('{' | '[')[]) => Expected | undefined;

const NEXT: Readonly<Record<Expected, Step>> = {
  value: begin,
  firstValue: (token, holders) => (token.kind === ']' ? leave(holders) : begin(token, holders)),
  name: ({ kind }) => (kind === 'string' ? 'colon' : undefined),
  firstName: ({ kind }, holders) => {
    if (kind === '}') return leave(holders);
    return kind === 'string' ? 'colon' : undefined;
  },
  colon: ({ kind }) => (kind === ':' ? 'value' : undefined),
  moreNames: ({ kind }, holders) => {
    if (kind === '}') return leave(holders);
    return kind === ',' ? 'name' : undefined;
  },
  moreValues: ({ kind }, holders) => {
    if (kind === ']') return leave(holders);
    return kind === ',' ? 'value' : undefined;
  },
  end: () => undefined,
};

function begin({ kind }: Token, holders: ('{' | '[')[]): Expected | undefined {
  if (kind === 'string' || kind === 'scalar') return after(holders);
  if (kind !== '{' && kind !== '[') return undefined;
  holders.push(kind);
  return kind === '{' ? 'firstName' : 'firstValue';
}

function leave(holders: ('{' | '[')[]): Expected {
  holders.pop();
  return after(holders);
}

function after(holders: readonly ('{' | '[')[]): Expected {
  const holder = holders.at(-1);
  if (holder === undefined) return 'end';
  return holder === '{' ? 'moreNames' : 'moreValues';
}

function shown(text: string, at: number): string {
  const code = text.codePointAt(at);
  if (code === undefined) return 'the end of the body';
  const character = String.fromCodePoint(code);
  return /\p{C}/u.test(character)
    ? `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
    : JSON.stringify(character);
}
