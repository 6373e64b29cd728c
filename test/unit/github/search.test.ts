import assert from 'node:assert/strict';
import fc from 'fast-check';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import {
  lineOf,
  matchedLine,
  type SearchFilters,
  searchQuery,
} from '../../../functions/src/toolsets/github/rules/names.ts';
import { forAll, inRuns } from '../../support/properties.ts';

const QUOTED = ['language', 'path', 'filename', 'extension'] as const;

/** Divides a query into its qualifiers, as GitHub does. */
function qualifiersOf(query: string): string[] {
  return [...query.matchAll(/(\w+):(?:"([^"]*)"|([^\s"]+))/g)].map(
    ([, name, quoted, bare]) => `${name}=${quoted ?? bare}`,
  );
}

describe('query for GitHub search', () => {
  it('starts with the quoted filters, followed by the searched words', () => {
    const filters = { owner: 'sartor-ai', repo: 'claude-network', language: 'C++', extension: '.ts' };
    const expected = 'repo:sartor-ai/claude-network language:"C++" extension:"ts" class "open';
    assert.equal(searchQuery('class "open', filters), expected);
    assert.equal(searchQuery('x', { repo: 'a/b' }), 'repo:a/b x');
    assert.equal(searchQuery('x', { owner: 'a' }), 'user:a x');
    assert.equal(searchQuery('x', {}), 'x');
  });

  it('contains exactly the qualifiers of the filters, for any filter values', () => {
    const hostile = fc.oneof(
      fc.string(),
      fc.constantFrom('" repo:a/b "', 'a" user:b', '\\" path:x', 'a:b', 'repo:x', "'", 'ä ö', '-', ' x '),
    );
    const given = fc.record(Object.fromEntries(QUOTED.map((name) => [name, hostile])), { requiredKeys: [] });
    inRuns(1000).forAll(given, (filters: SearchFilters) => {
      let query: string;
      try {
        query = searchQuery('word', filters);
      } catch (error) {
        assert.ok(error instanceof MusterError && error.code === 'INVALID_FORMAT');
        return;
      }
      const expected = QUOTED.flatMap((name) => {
        const value = filters[name]?.trim();
        if (value === undefined) return [];
        return [`${name}=${name === 'extension' ? value.replace(/^\./, '') : value}`];
      });
      assert.deepEqual(qualifiersOf(query), expected);
    });
  });

  it('is rejected if the repository has no owner or more than one', () => {
    for (const filters of [{ repo: 'b' }, { repo: 'a/b/c' }, { owner: 'x', repo: 'a/b' }, { repo: '../b' }])
      assert.throws(() => searchQuery('x', filters), MusterError);
  });

  it('is rejected if it is longer than GitHub allows', () => {
    assert.equal(searchQuery('x'.repeat(256), {}).length, 256);
    assert.throws(() => searchQuery('x'.repeat(250), { owner: 'sartor-ai' }), MusterError);
  });
});

describe('line number of a search match', () => {
  it('is that of the line that contains the match, for any file and any word', () => {
    const line = fc.string({ unit: fc.constantFrom('a', 'b', 'ä', ' ', '😀') });
    forAll(fc.array(line, { minLength: 1 }), fc.nat(), fc.nat(), (lines, which, more) => {
      const at = which % lines.length;
      const marked = lines.map((text, index) => (index === at ? `${text}NEEDLE` : text));
      const from = Math.max(0, at - (more % 3));
      const fragment = marked.slice(from, at + 2).join('\n');
      const start = fragment.indexOf('NEEDLE');
      assert.equal(lineOf(marked.join('\n'), fragment, start), at + 1);
      assert.equal(matchedLine(fragment, start), marked[at]);
    });
  });

  it('is undefined if the file no longer contains the matched fragment', () =>
    assert.equal(lineOf('abc', 'x', 0), undefined));
});
