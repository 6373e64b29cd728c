/** Reports of attempts must stay within their size limit, and the hub must accept them. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createRedactor } from '../src/redaction.ts';
import { type Report, reportJson } from '../src/task/report.ts';
import { checkEnding } from './support/hubChecks.ts';
import { anyText } from './support/texts.ts';

/** Maximum size of a report, as in docs/guides/runner.md. The hub's own limit is 1 MiB. */
const MAX_BYTES = 800_000;
const redactor = createRedactor(['hunter2hunter2'], {});

const EMPTY: Report = {
  branch: 'work/1',
  base: 'abc',
  head: 'abc',
  changes: undefined,
  work: undefined,
  exit: undefined,
  acceptance: undefined,
  merge: undefined,
  pullRequest: undefined,
  warnings: [],
  worktree: undefined,
  repository: undefined,
  durationMs: 1,
};

/** Returns a report whose texts and lists have their maximum length. Each text repeats the unit. */
function hugeReport(unit: string): Report {
  const text = (characters: number): string => unit.repeat(characters);
  const list = <Item>(count: number, item: (n: number) => Item): Item[] =>
    Array.from({ length: count }, (_, n) => item(n));
  return {
    branch: text(5000),
    base: text(5000),
    head: text(5000),
    changes: {
      head: text(5000),
      commits: list(200, () => ({ sha: text(40), subject: text(10_000) })),
      diffstat: { files: 1000, insertions: 1, deletions: 1 },
      files: list(1000, () => ({ path: text(4096), insertions: 1, deletions: 1 })),
      diff: list(2000, () => text(3000)).join('\n'),
    },
    work: {
      summary: text(25_000),
      model: text(5000),
      commands: list(200, () => text(5000)),
      tools: Object.fromEntries(list(2000, (n) => [`${text(200)}${n}`, n])),
      turns: 1,
      tokens: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 },
      costUsd: 1,
    },
    exit: { code: 0, signal: null },
    acceptance: { command: text(10_000), exitCode: 0, output: text(20_000) },
    merge: { into: text(5000), base: 'abc', clean: false, conflicts: list(100, () => text(4096)) },
    pullRequest: { number: 1, url: text(5000) },
    warnings: list(2000, () => text(5000)),
    worktree: text(4096),
    repository: text(4096),
    durationMs: 1,
  };
}

function sizeOf(report: Report): number {
  const result = reportJson(report, redactor);
  checkEnding({ status: 'completed', result });
  const json = JSON.stringify(result);
  assert.ok(json.isWellFormed() && !json.includes('\\ud'), 'the report is not well-formed');
  return Buffer.byteLength(json);
}

describe("an attempt's report", () => {
  for (const [what, unit] of [
    ['letters', 'x'],
    ['quotation marks', '"'],
    ['line ends', '\n'],
    ['umlauts', 'ä'],
    ['Chinese', '漢'],
    ['emojis', '🚀'],
    ['halves of surrogate pairs', '\ud83d'],
    ['backslashes and NUL', '\\\0'],
  ] as const)
    it(`stays within its size limit if every text and list is at its maximum, with ${what}`, () => {
      const bytes = sizeOf(hugeReport(unit));
      assert.ok(bytes <= MAX_BYTES, `${bytes} bytes`);
    });

  it('stays within its size limit and is well-formed for any texts and tool names', () => {
    const texts = fc.array(anyText(), { maxLength: 5 });
    const report = fc.record({
      branch: anyText(),
      base: anyText(),
      head: fc.option(anyText(), { nil: undefined }),
      changes: fc.record({
        head: anyText(),
        commits: fc.array(fc.record({ sha: anyText(), subject: anyText(2000) }), { maxLength: 5 }),
        diffstat: fc.constant({ files: 1, insertions: 1, deletions: 1 }),
        files: fc.array(fc.record({ path: anyText(2000), insertions: fc.nat(), deletions: fc.nat() }), {
          maxLength: 5,
        }),
        diff: fc.option(anyText(3000), { nil: undefined }),
      }),
      work: fc.record({
        summary: anyText(),
        model: fc.option(anyText(), { nil: undefined }),
        commands: texts,
        tools: fc.dictionary(fc.oneof(anyText(), fc.constant('__proto__')), fc.nat(), { noNullPrototype: true }),
        turns: fc.nat(),
        tokens: fc.constant(undefined),
        costUsd: fc.constant(undefined),
      }),
      exit: fc.constant(undefined),
      acceptance: fc.record({ command: anyText(), output: anyText() }),
      merge: fc.record({
        into: anyText(),
        base: fc.constant('abc'),
        clean: fc.boolean(),
        conflicts: fc.array(anyText(2000), { maxLength: 5 }),
      }),
      pullRequest: fc.record({ number: fc.nat(), url: fc.option(anyText(), { nil: undefined }) }),
      warnings: texts,
      worktree: anyText(),
      repository: anyText(),
      durationMs: fc.nat(),
    });
    fc.assert(fc.property(report, (one) => sizeOf(one) <= MAX_BYTES));
  });

  it('can contain a tool with the name __proto__', () => {
    const tools = JSON.parse('{"__proto__": 3, "Bash": 1}');
    const work = { summary: '', model: undefined, commands: [], turns: 1, tokens: undefined, costUsd: undefined };
    const result = reportJson({ ...EMPTY, work: { ...work, tools } }, redactor);
    checkEnding({ status: 'completed', result });
    assert.match(JSON.stringify(result), /"tools":\{"\(__proto__\)":3,"Bash":1\}/);
  });

  it('is redacted before its texts are cut, so that no part of a secret remains', () => {
    const subject = `${'x'.repeat(895)}hunter2hunter2`;
    const changes = {
      head: 'abc',
      commits: [{ sha: 'abc', subject }],
      diffstat: { files: 0, insertions: 0, deletions: 0 },
      files: [],
      diff: `+${'x'.repeat(1990)}hunter2hunter2\n`.repeat(1000),
    };
    const json = JSON.stringify(reportJson({ ...EMPTY, changes }, redactor));
    assert.ok(!json.includes('hunte'), 'a part of the secret remains');
  });

  it('contains the diff in whole lines, and states if lines are missing', () => {
    const changes = { head: 'abc', commits: [], diffstat: { files: 1, insertions: 1, deletions: 0 }, files: [] };
    const diffOf = (diff: string) => {
      const { diff: shown } = JSON.parse(
        JSON.stringify(reportJson({ ...EMPTY, changes: { ...changes, diff } }, redactor)),
      );
      return String(shown).split('\n');
    };
    const short = ['diff --git a/a.ts b/a.ts', '@@ -0,0 +1 @@', "+const key = '';"];
    assert.deepEqual(diffOf(short.join('\n')), short);
    const long = `+const key = 'hunter2hunter2';\n${'+line\n'.repeat(500_000)}diff --git a/b b/b\n+last`;
    const [line = '', ...others] = diffOf(long);
    assert.equal(line, "+const key = '[redacted]';");
    const missing = `${500_003 - others.length} more lines, 1 more file`;
    assert.equal(others.pop(), `Not shown: ${missing}. The branch contains the whole diff.`);
    assert.ok(others.length > 20_000 && others.every((one) => one === '+line'));
    const oneLine = ['', 'Not shown: 1 more line. The branch contains the whole diff.'];
    assert.deepEqual(diffOf('x'.repeat(2_000_000)), oneLine);
    assert.equal(diffOf(`+${'x'.repeat(5000)}`)[0]?.length, 2001);
  });

  it('contains no subject or path of more than 1,000 characters', () => {
    const result = JSON.parse(JSON.stringify(reportJson(hugeReport('x'), redactor)));
    for (const { subject } of result.commits) assert.ok(subject.length <= 1000);
    for (const { path } of result.files) assert.ok(path.length <= 1000);
    assert.ok(result.commits.length > 50 && result.files.length > 100, 'the lists are too short for this test');
    assert.match(result.warnings.at(-1), /^The log contains \d+ more warnings\.$/);
  });
});
