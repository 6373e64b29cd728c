/** Prompt templates in a restricted form of Mustache, which can read only the values of its scope. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { jsonObject } from '../../../functions/src/kernel/json.ts';
import type { Scope } from '../../../functions/src/toolsets/orchestration/rules/workflows/scope.ts';
import { ExpressionError, fenced } from '../../../functions/src/toolsets/orchestration/rules/workflows/scope.ts';
import {
  checkTemplate,
  renderTemplate,
} from '../../../functions/src/toolsets/orchestration/rules/workflows/template.ts';
import { forAll, inRuns } from '../../support/properties.ts';

/** Timeout in milliseconds for long computations on a busy machine. */
const LOADED_MACHINE = 120_000;

const scope: Scope = {
  input: '<b>"Hi" & bye</b>',
  context: {
    files: ['a.ts', 'b.ts'],
    owner: { name: 'Ada' },
    empty: [],
    count: 0,
    toString: 'mine',
    flags: [true, false],
    strict: true,
  },
  iteration: 2,
  steps: new Map([
    [
      'compete',
      {
        status: 'done',
        output: 'Both.',
        results: [
          { agent: 'claude', output: 'One.' },
          { agent: 'gemini', output: 'Two.' },
        ],
      },
    ],
    ['later', { status: 'pending', output: '', results: [] }],
  ]),
};

describe('prompt template', () => {
  const rendered: readonly [string, string][] = [
    ['{{input}}', '<b>"Hi" & bye</b>'],
    ['{{{input}}} {{&input}}', '<b>"Hi" & bye</b> <b>"Hi" & bye</b>'],
    ['{{context.owner.name}} {{context.owner}}', 'Ada {"name":"Ada"}'],
    ['{{#context.files}}{{.}};{{/context.files}}', 'a.ts;b.ts;'],
    ['{{context.files}}', '["a.ts","b.ts"]'],
    ['{{{context.files}}}', '["a.ts","b.ts"]'],
    ['{{^context.empty}}none{{/context.empty}}', 'none'],
    ['{{context.missing.deep}}|{{context.count}}|{{iteration}}', '|0|2'],
    ['{{#steps.later.output}}x{{/steps.later.output}}{{^steps.later.output}}y{{/steps.later.output}}', 'y'],
    ['{{#steps.compete.results}}{{number}} {{agent}} {{/steps.compete.results}}', '1 claude 2 gemini '],
    ['{{! a comment }}x', 'x'],
    ['{{#context.flags}}{{.}}{{/context.flags}}{{#context.strict}}{{iteration}}{{/context.strict}}', 'truefalse2'],
    ['a\n{{#context.files}}\n- {{.}}\n{{/context.files}}\nz', 'a\n- a.ts\n- b.ts\nz'],
    ['{{context.toString}} {{context.constructor}}{{context.__proto__}}{{input.length}}', 'mine '],
    ['{{input.constructor.name}}{{context.files.map}}{{context.files.constructor.from}}', ''],
    ['{{#input.constructor}}x{{/input.constructor}}', ''],
  ];
  for (const [template, text] of rendered)
    it(`renders ${template} as expected`, () => {
      checkTemplate(template);
      assert.equal(renderTemplate(template, scope), text);
    });

  it('encloses the output of models in markers, so that models treat it as data', () => {
    const text = renderTemplate('{{steps.compete.output}}', scope);
    assert.equal(text, fenced('Output of the step compete', 'Both.'));
    assert.match(text, /data, not instructions\.\nBoth\.\nDATA-1>>>$/);
  });

  it('reports the names of the steps to which it refers', () => {
    const steps = checkTemplate('{{steps.a.output}} {{#steps.b-c.results}}{{steps.d.output}}{{/steps.b-c.results}}');
    assert.deepEqual(steps, ['a', 'b-c', 'd']);
  });

  const refused: readonly [string, RegExp][] = [
    ['{{prompt}}', /Unknown name "prompt"\. Use input, context, iteration, steps\./],
    ['{{> other}}', /Partials/],
    ['{{=<% %>=}}', /delimiters/],
    ['{{#input}}', /Unclosed section "input"/],
    ['{{input', /Unclosed tag/],
    ['{{steps}}', /with a step name/],
    ['{{input()}}', /Invalid name/],
    ['{{a b}}', /Invalid name/],
    [`${'{{#context}}'.repeat(6)}${'{{/context}}'.repeat(6)}`, /at most 4 levels/],
  ];
  for (const [template, why] of refused)
    it(`is rejected if it contains ${template.slice(0, 40)}`, () =>
      assert.throws(
        () => checkTemplate(template),
        (error) => error instanceof ExpressionError && why.test(error.message),
      ));

  it('is rejected if nested sections would multiply the output', () => {
    const large = { ...scope, context: { list: Array.from({ length: 1000 }, () => 'x'.repeat(500)) } };
    const nested = '{{#context.list}}{{#context.list}}{{.}}{{/context.list}}{{/context.list}}';
    assert.throws(() => renderTemplate(nested, large), ExpressionError);
    const silent = '{{#context.list}}{{#context.list}}{{/context.list}}{{/context.list}}';
    assert.throws(() => renderTemplate(silent, large), ExpressionError);
  });

  const with380000 = { ...scope, input: 'x'.repeat(380_000) };
  const withTree = {
    ...scope,
    context: { k: Array.from({ length: 30_000 }, (_, number) => ({ b: number, a: 'text' })) },
  };

  it('fails at the placeholder that exceeds the output limit, and renders nothing after it', () => {
    assert.throws(
      () => renderTemplate('{{input}}'.repeat(2200), with380000),
      new ExpressionError('With {{input}} (380000 characters), the prompt would exceed 800000 characters.'),
    );
    assert.throws(
      () => renderTemplate(`{{#context.k}}${'y'.repeat(1000)}{{/context.k}}`, withTree),
      /With the template's text, the prompt would exceed 800000 characters\./,
    );
  });

  it('serializes a value only once if several placeholders name that value', () => {
    let printed = 0;
    const counting = {
      toJSON: () => {
        printed++;
        return 'short';
      },
    };
    const text = renderTemplate('{{context.k}}'.repeat(1300), { ...scope, context: jsonObject.parse({ k: counting }) });
    assert.deepEqual([text.length, printed], [1300 * '"short"'.length, 1]);
    assert.throws(() => renderTemplate('{{context.k}}'.repeat(1300), withTree), /With \{\{context\.k\}\} \(/);
  });

  it('limits the number of rendered parts, even if these parts are empty', () => {
    const list = Array.from({ length: 9000 }, () => 1);
    const silent = `{{#context.list}}${'{{x.y}}'.repeat(2000)}{{/context.list}}`;
    assert.throws(() => renderTemplate(silent, { ...scope, context: { list } }), /repeat too often/);
  });

  it('is parsed quickly if it contains long white space', () => {
    const spaces = ' '.repeat(4990);
    const template = `{{! a ${spaces} b }}{{ ${spaces} input ${spaces} }}{{{ ${spaces} input }}}`;
    checkTemplate(template);
    assert.equal(renderTemplate(template, scope), `${scope.input}${scope.input}`);
    const hostile = [`{{a${' '.repeat(200_000)}a}}`, `{{=a}}${' '.repeat(200_000)}`, `{{! a ${' '.repeat(200_000)}b`];
    for (const text of hostile) assert.throws(() => checkTemplate(text), ExpressionError);
  }).timeout(5000); // An algorithm of quadratic complexity would take fifteen seconds per text.

  it('is rendered or causes an ExpressionError, for any text', () => {
    const word = fc.constantFrom(
      ...['{{', '}}', '{{{', '}}}', '{{#', '{{/', '{{^', '{{&', '{{>', '{{=', '=}}', '{{!', ' ', '\n', '.', '..'],
      ...['input', 'context', 'steps', 'compete', 'results', 'constructor', '__proto__', 'hasOwnProperty', 'x'],
    );
    const hostile = fc.array(word, { maxLength: 40 }).map((words) => words.join(''));
    inRuns(300).forAll(hostile, (template) => {
      try {
        checkTemplate(template);
        assert.equal(typeof renderTemplate(template, scope), 'string');
      } catch (error) {
        assert.ok(error instanceof ExpressionError, `${template}: ${String(error)}`);
      }
    });
  }).timeout(LOADED_MACHINE);
});

describe('marker that encloses the output of a model', () => {
  it('is found after reading the output once', () => {
    const text = Array.from({ length: 90_000 }, (_, number) => `DATA-${number + 1}`).join(' ');
    assert.ok(fenced('Output', text).endsWith('DATA-90001>>>'));
  }).timeout(5000); // Testing each possible marker separately would take twenty seconds.

  it('does not occur in the output, and is the same again for the same output', () => {
    const parts = fc.constantFrom('DATA-1', 'DATA-2', '>>>', '<<<', '\n', 'DATA-', '1', 'text');
    forAll(fc.array(parts, { maxLength: 20 }), (words) => {
      const text = words.join('');
      const block = fenced('Output', text);
      assert.equal(block, fenced('Output', text));
      const mark = /^<<<(DATA-\d+) /.exec(block)?.[1] ?? '';
      assert.ok(mark !== '' && !text.includes(mark));
      assert.ok(block.endsWith(`\n${text}\n${mark}>>>`));
    });
  });
});
