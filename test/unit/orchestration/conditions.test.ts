/** Conditions, which are a restricted part of CEL. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  checkCondition,
  evaluateCondition,
} from '../../../functions/src/toolsets/orchestration/rules/workflows/condition.ts';
import { ExpressionError, type Scope } from '../../../functions/src/toolsets/orchestration/rules/workflows/scope.ts';
import { inRuns } from '../../support/properties.ts';

/** Timeout in milliseconds for long computations on a busy machine. */
const LOADED_MACHINE = 120_000;

const scope: Scope = {
  input: 'Write a parser',
  context: { files: ['a.ts', 'b.ts'], strict: true, retries: 3, owner: { name: 'Ada' } },
  iteration: 2,
  steps: new Map([
    ['review', { status: 'done', output: ' APPROVED\nWell done.', results: [] }],
    ['second-look', { status: 'pending', output: '', results: [] }],
  ]),
};

describe('condition', () => {
  const judged: readonly [string, boolean][] = [
    ['steps.review.output.trim().startsWith("APPROVED")', true],
    ['steps["second-look"].output == ""', true],
    ['steps.review.status == "done" && iteration >= 2', true],
    ['context.strict', true],
    ['size(context.files) > 2', false],
    ['has(context.missing) && context.missing', false],
    ['context.owner.name in ["Ada", "Grace"]', true],
    ['!input.contains("lexer") || false', true],
    ['int(context.retries) % 2 == 1 ? true : false', true],
    ['input.lowerAscii().endsWith("parser")', true],
  ];
  for (const [expression, result] of judged)
    it(`evaluates ${expression}`, () => {
      checkCondition(expression);
      assert.equal(evaluateCondition(expression, scope), result);
    });

  it('returns the names of the steps to which the condition refers', () => {
    const steps = checkCondition('steps.a.output == "" || steps["b-c"].status == steps.a.status');
    assert.deepEqual(steps, ['a', 'b-c']);
  });

  const refused: readonly [string, RegExp][] = [
    ['', /./],
    ['steps.review.output.matches("(a+)+$")', /Unknown function matches\(\)/],
    ['[1, 2].all(x, x > 0)', /Unknown function all\(\)/],
    ['[1, 2].map(x, x) == [1]', /Unknown function map\(\)/],
    ['cel.bind(x, 1, x == 1)', /./],
    ['{"a": 1} == {}', /maxMapEntries/],
    ['steps == context', /with a step name/],
    ['steps[input].output == ""', /with a step name/],
    ['process.exit()', /./],
    ['iteration', /result is int/],
    ['"yes"', /result is string/],
    ['input ==', /./],
    ['input + 1 == 2', /overload/],
    [`${'('.repeat(40)}true${')'.repeat(40)}`, /maxDepth/],
    [Array.from({ length: 80 }, () => 'true').join(' && '), /maxAstNodes/],
    [`input in [${Array.from({ length: 30 }, () => '"x"').join(',')}]`, /maxListElements/],
    ['timestamp("2020-01-01T00:00:00Z") == timestamp(0)', /Unknown function timestamp\(\)/],
    ['bytes(input).base64() == ""', /Unknown function base64\(\)/],
    ['input.split(" ").size() > 1', /Unknown function split\(\)/],
  ];
  for (const [expression, why] of refused)
    it(`rejects ${expression.slice(0, 50)}`, () =>
      assert.throws(
        () => checkCondition(expression),
        (error) => error instanceof ExpressionError && why.test(error.message),
      ));

  const broken = ['context.missing', 'context.owner', '1 / 0 == 1', 'context.constructor == 1', 'context["__proto__"]'];
  for (const expression of broken)
    it(`cannot evaluate ${expression}`, () =>
      assert.throws(() => evaluateCondition(expression, scope), ExpressionError));

  it('evaluates to a boolean or throws an ExpressionError for any input', () => {
    const word = fc.constantFrom(
      ...['input', 'context', 'steps', 'iteration', 'review', 'constructor', '__proto__', 'prototype', 'this'],
      ...['.', '[', ']', '(', ')', '"', '+', '==', '&&', '||', '!', '?', ':', ',', '{', '}', '-', '*', '%', 'in'],
      ...['size', 'has', 'matches', 'map', 'all', 'toString', 'eval', 'Function', 'globalThis', 'process'],
      ...['1', '9999999999999999999', '1e999', '""', 'b"x"', 'null', 'true', '\\', '\u0000', '\n', '//'],
    );
    const hostile = fc.oneof(
      fc.string({ maxLength: 500, unit: 'binary' }),
      fc.array(word, { maxLength: 60 }).map((words) => words.join('')),
      fc.array(word, { maxLength: 60 }).map((words) => words.join(' ')),
    );
    inRuns(300).forAll(hostile, (expression) => {
      try {
        checkCondition(expression);
        assert.equal(typeof evaluateCondition(expression, scope), 'boolean');
      } catch (error) {
        assert.ok(error instanceof ExpressionError, String(error));
        assert.ok(error.message.length < 700 && !error.message.includes('\n'), error.message);
      }
    });
  }).timeout(LOADED_MACHINE);
});
