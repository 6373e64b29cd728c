import assert from 'node:assert/strict';
import fc from 'fast-check';
import { overlap, readGlobs } from '../../../../functions/src/toolsets/coordination/rules/files/globs.ts';
import { inRuns } from '../../../support/properties.ts';

/** Returns the paths that a glob matches, as an expression. A path without wildcards can be a folder. */
function expressionOf(glob: string): RegExp {
  const parts = glob
    .split('/')
    .map((part) =>
      part === '**'
        ? '(?:/[^/]+)*'
        : `/${[...part].map((letter) => (letter === '*' ? '[^/]*' : letter === '?' ? '[^/]' : letter)).join('')}`,
    );
  const below = /[*?]/.test(glob) ? '' : '(?:/[^/]+)*';
  return new RegExp(`^${parts.join('')}${below}$`);
}

const NAMES = ['a', 'b', 'ab', 'ba', 'abb'];

/** All paths of at most four of the names. */
const PATHS = [1, 2, 3, 4].flatMap((depth) =>
  Array.from({ length: depth }).reduce<string[]>(
    (paths) => paths.flatMap((path) => NAMES.map((name) => `${path}/${name}`)),
    [''],
  ),
);

const part = fc.oneof(
  fc.constantFrom('**', '**', '*', 'a', 'b', 'ab'),
  fc.array(fc.constantFrom('a', 'b', '*', '?'), { minLength: 1, maxLength: 3 }).map((letters) => letters.join('')),
);
const glob = fc
  .array(part, { minLength: 1, maxLength: 3 })
  .map((parts) => parts.map((one) => (/^\*{3,}$/.test(one) ? '*' : one)).join('/'));

describe('globs of reserved files', () => {
  it('overlap if they match a common path, in either order', () => {
    inRuns(2000).forAll(glob, glob, (one, other) => {
      const [first, second] = [expressionOf(one), expressionOf(other)];
      const common = PATHS.find((path) => first.test(path) && second.test(path));
      const meets = overlap(one, other);
      assert.equal(meets, overlap(other, one));
      if (common !== undefined) assert.ok(meets, `${one} and ${other} both match ${common}`);
    });
  });

  for (const [one, other, meets] of [
    ['src/auth/**', 'src/auth/login.ts', true],
    ['src/auth/**', 'src/auth', true],
    ['src/auth/**', 'src/author/login.ts', false],
    ['src/*.ts', 'src/auth/login.ts', false],
    ['src/*.ts', 'src/a*', true],
    ['**/*.test.ts', 'src/**', true],
    ['**/*.test.ts', 'src/login.ts', false],
    ['src/**/x', 'src/**/y', false],
    ['src/auth', 'src/auth/login.ts', true],
    ['src/auth.ts', 'src/auth.tsx', false],
    ['app/[id]/page.tsx', 'app/[id]/page.tsx', true],
    ['app/[id]/page.tsx', 'app/i/page.tsx', false],
    ['a/?b', 'a/*bb', true],
  ] as const)
    it(`${one} and ${other} ${meets ? 'overlap' : 'do not overlap'}`, () => {
      assert.equal(overlap(one, other), meets);
      assert.equal(overlap(other, one), meets);
    });

  it('compares long patterns of wildcards within a second', () => {
    const [one, other] = [`${'*a'.repeat(90)}b`, `${'?'.repeat(180)}c`];
    const started = performance.now();
    for (let round = 0; round < 1000; round++) assert.equal(overlap(one, other), false);
    assert.ok(performance.now() - started < 1000);
  });
});

describe('names of reserved files', () => {
  it('are normalized', () => {
    const names = ['./src/a.ts', 'src//a.ts', 'src\\b.ts', 'docs/', ' x ', './'];
    assert.deepEqual(readGlobs(names), { globs: ['src/a.ts', 'src/b.ts', 'docs/**', 'x', '**'], ignored: [] });
  });

  it('are ignored if they are outside the repository', () => {
    const names = ['../x', 'a/../../x', '/etc/passwd', '~/x', 'C:\\x', 'https://example.com/a', '', 'a\nb', '\ud800'];
    assert.deepEqual(readGlobs([...names, 'x'.repeat(201)]), { globs: [], ignored: [...names, 'x'.repeat(201)] });
  });

  it('are at most 32, and equal ones count once', () => {
    const names = Array.from({ length: 34 }, (_, index) => `src/${index % 33}.ts`);
    const { globs, ignored } = readGlobs([...names, 'src/0.ts']);
    assert.equal(globs.length, 32);
    assert.deepEqual(ignored, ['src/32.ts']);
  });
});
