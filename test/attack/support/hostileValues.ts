/** Hostile and unexpected values, some for any argument, some for certain argument names, some of maximum size. */
import fc from 'fast-check';

function nested(depth: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = 'core';
  for (let level = 0; level < depth; level++) value = wrap(value);
  return value;
}

function numbered(count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`key${n}`, n]));
}

const TEXTS: readonly string[] = [
  '',
  ' ',
  '../../etc/passwd',
  '..\\..\\windows',
  'a/b/c',
  '/',
  '.',
  '..',
  '__proto__',
  '__name__',
  'constructor',
  'task-1',
  'task-99999',
  '\0',
  'a\0b',
  '\u0007\u001b[31m\u202e\ufeff',
  '\ud800',
  'x\udfff',
  '😀'.repeat(50),
  '<script>alert(1)</script>',
  '$(id)',
  "'; DROP TABLE tasks; --",
  '{"$ne":null}',
  '%00%2e%2e%2f',
  'x'.repeat(1_600),
];

export const HOSTILE_NUMBERS: readonly number[] = [
  ...[0, -0, -1, 0.5, 11, 1000, 1e308, -1e308, 5e-324],
  ...[2 ** 31, 2 ** 53, -(2 ** 53), 2 ** 63],
];

export const hostileText = fc.oneof(
  fc.constantFrom(...TEXTS),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
);

export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.constantFrom<unknown>(...HOSTILE_NUMBERS, true, false, null, [], {}, [[]], [null]),
  fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }),
  fc.constantFrom<unknown>(
    nested(25, (inner) => [inner]),
    nested(30, (inner) => ({ a: inner })),
    nested(2000, (inner) => [inner]),
    JSON.parse('{"__proto__":{"role":"admin"},"constructor":{"prototype":{"x":1}}}'),
    Array.from({ length: 5000 }, () => 'a'),
    numbered(2000),
  ),
);

/** Functions that create values of nearly the size of the largest accepted request body. */
const HUGE: Readonly<Record<string, () => unknown>> = {
  numbers: () => Array.from({ length: 1_900_000 }, () => 1),
  objects: () => Array.from({ length: 900_000 }, () => ({})),
  lists: () => Array.from({ length: 1_200_000 }, () => []),
  texts: () => Array.from({ length: 400_000 }, (_, n) => `tag${n}`),
  keys: () => numbered(200_000),
  wrongTasks: () => Array.from({ length: 50 }, () => ({ ...numbered(3000), description: 7 })),
  words: () => 'wörd '.repeat(400_000),
  letters: () => 'x'.repeat(3_900_000),
  emoji: () => '😀'.repeat(900_000),
  controls: () => '\u0001'.repeat(600_000),
  placeholders: () => '{{input}}'.repeat(40_000),
  backtracking: () => `${'a'.repeat(200_000)}!`,
  brackets: () => '(['.repeat(300_000),
  spaces: () => ' '.repeat(1_000_000),
  digits: () => '9'.repeat(1_000_000),
};

export const hugeValue: fc.Arbitrary<unknown> = fc.constantFrom(...Object.values(HUGE)).map((made) => made());

/** Unusual values for arguments with certain names. Each pattern matches names of arguments. */
const TRAPS: readonly (readonly [RegExp, readonly unknown[]])[] = [
  [
    /date|_at$|_before$|_after$|deadline/i,
    [
      ...['tomorrow', '2026-02-30T00:00:00Z', '2026-02-10', '2026-02-10T10:00:00', '0000-01-01T00:00:00Z'],
      ...['9999-12-31T23:59:59Z', '+275760-09-13T00:00:00Z', '2026-12-31T23:59:60Z', '2026-06-01T00:00:00+99:99'],
      ...['2026-06-01T24:00:00Z', '1e9', 1_770_000_000_000, `2026-06-01T00:00:00.${'0'.repeat(5000)}Z`],
    ],
  ],
  [/timezone/i, ['CET', 'utc', 'Europe/Nowhere', '+25:00', 'Etc/GMT+15', '../Europe/Berlin', 'x'.repeat(5000)]],
  [/cursor/i, ['e30', 'bnVsbA', 'W10', 'eyJhIjoxfQ', '====', 'A'.repeat(5000), 'eyJhZnRlciI6WyJfX3Byb3RvX18iXX0', '1']],
  [
    /id$|ids$|^in_hand$|dependencies|epoch/i,
    ['a/b', '../x', '.', '..', '__x__', 'leader0/', '%2f', 'x'.repeat(2000), 'a.b', 'a#b', 'a$b', 'a[0]', ' leader0 '],
  ],
  [
    /prompt|input|template|workflow|instructions|description|title|query|search/i,
    [
      ...['{{input}}', '{{context.k}}', '{{{a}}}', '{{#a}}{{/b}}', '{{__proto__.x}}', '{{ '.repeat(2000)],
      ...['a OR b NOT (', 'repo:x/y org:z', '"', '(a+)+$', `${'a '.repeat(5000)}`, '\u001b]8;;http://x\u0007y'],
    ],
  ],
  [
    /path|ref|branch|owner|repo|base|head/i,
    [
      ...['/', '//', 'users//x', 'users/../agents', 'credentials/mk_x', 'agents/leader0', '.info/connected'],
      ...['presence', '/limits', 'refs/heads/../x', 'a..b', 'a.lock', '-rf', 'HEAD', 'x'.repeat(3000), 'ü/é', 'a\\b'],
      ...[`${'a/'.repeat(200)}b`, '*', '**', 'shared/$x', 'shared/a#b', 'shared/[x]', 'shared/.x'],
    ],
  ],
  [
    /^data$|context|config|metadata|result|overrides|preferences|filters|options|^where$|orderBy|startAt|endAt/i,
    [
      ...[{ '.sv': 'timestamp' }, { '.value': 1, '.priority': 2 }, { $key: 1 }, { 'a/b': 1 }, { '': 1 }],
      ...[{ __name__: 1 }, { a: [[1]] }, { a: { b: [[], [[]]] } }, [null, null, 1], { 0: 1, 1: 2 }],
      ...['__name__', '$key', '$value', '$priority', 'a.b', '`a`', '.', 'a..b', ['==', 1]],
    ],
  ],
  [/idempotency_key/i, ['', ' ', 'a/b', '__x__', 'k'.repeat(300), 'k'.repeat(64), '\u0001', 'é']],
];

/** Generates one of the values in TRAPS for this argument name. Returns undefined if TRAPS has no value for it. */
export function trapFor(name: string): fc.Arbitrary<unknown> | undefined {
  const traps = TRAPS.filter(([kind]) => kind.test(name)).flatMap(([, values]) => values);
  return traps.length === 0 ? undefined : fc.constantFrom(...traps);
}
