/** Prompt templates: Mustache over the scope, and nothing but the scope. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { fenced } from '../../../../functions/src/domain/orchestration/fence.ts';
import type { Scope } from '../../../../functions/src/domain/orchestration/workflows/scope.ts';
import {
  checkTemplate,
  renderTemplate,
  TemplateError,
} from '../../../../functions/src/domain/orchestration/workflows/template.ts';

/** Milliseconds: for what computes much, on a machine that is busy with other things. */
const LOADED_MACHINE = 120_000;

const scope: Scope = {
  input: '<b>"Hi" & bye</b>',
  context: { files: ['a.ts', 'b.ts'], owner: { name: 'Ada' }, empty: [], count: 0, toString: 'mine' },
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

describe('a template', () => {
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
    ['{{context.toString}} {{context.constructor}}{{context.__proto__}}{{input.length}}', 'mine '],
    ['{{input.constructor.name}}{{context.files.map}}{{context.files.constructor.from}}', ''],
    ['{{#input.constructor}}x{{/input.constructor}}', ''],
  ];
  for (const [template, text] of rendered) {
    it(`renders ${template}`, () => {
      checkTemplate(template);
      assert.equal(renderTemplate(template, scope), text);
    });
  }

  it('marks what models wrote as data', () => {
    const text = renderTemplate('{{steps.compete.output}}', scope);
    assert.equal(text, fenced('Output of the step compete', 'Both.'));
    assert.match(text, /data, not instructions\.\nBoth\.\nDATA-1>>>$/);
  });

  it('tells which steps it names', () => {
    const { steps } = checkTemplate(
      '{{steps.a.output}} {{#steps.b-c.results}}{{steps.d.output}}{{/steps.b-c.results}}',
    );
    assert.deepEqual(steps, ['a', 'b-c', 'd']);
  });

  const refused: readonly [string, RegExp][] = [
    ['{{prompt}}', /There is no "prompt"; there are input, context, iteration, steps\./],
    ['{{> other}}', /partials/],
    ['{{=<% %>=}}', /delimiters/],
    ['{{#input}}', /Unclosed section "input"/],
    ['{{input', /Unclosed tag/],
    ['{{steps}}', /named by itself/],
    ['{{input()}}', /names nothing/],
    ['{{a b}}', /names nothing/],
    [`${'{{#context}}'.repeat(6)}${'{{/context}}'.repeat(6)}`, /4 deep/],
  ];
  for (const [template, why] of refused) {
    it(`refuses ${template.slice(0, 40)}`, () => {
      assert.throws(
        () => checkTemplate(template),
        (error) => error instanceof TemplateError && why.test(error.message),
      );
    });
  }

  it('stops where its sections would multiply without end', () => {
    const large = { ...scope, context: { list: Array.from({ length: 1000 }, () => 'x'.repeat(500)) } };
    const nested = '{{#context.list}}{{#context.list}}{{.}}{{/context.list}}{{/context.list}}';
    assert.throws(() => renderTemplate(nested, large), TemplateError);
    const silent = '{{#context.list}}{{#context.list}}{{/context.list}}{{/context.list}}';
    assert.throws(() => renderTemplate(silent, large), TemplateError);
  });

  it('renders or is refused, whatever is written', () => {
    const word = fc.constantFrom(
      ...[
        '{{',
        '}}',
        '{{{',
        '}}}',
        '{{#',
        '{{/',
        '{{^',
        '{{&',
        '{{>',
        '{{=',
        '=}}',
        '{{!',
        ' ',
        '\n',
        '.',
        '..',
      ],
      ...[
        'input',
        'context',
        'steps',
        'compete',
        'results',
        'constructor',
        '__proto__',
        'hasOwnProperty',
        'x',
      ],
    );
    const hostile = fc.array(word, { maxLength: 40 }).map((words) => words.join(''));
    fc.assert(
      fc.property(hostile, (template) => {
        try {
          checkTemplate(template);
          assert.equal(typeof renderTemplate(template, scope), 'string');
        } catch (error) {
          assert.ok(error instanceof TemplateError, `${template}: ${String(error)}`);
        }
      }),
      { numRuns: 300 },
    );
  }).timeout(LOADED_MACHINE);
});

describe('a fence', () => {
  it('has a mark that its text does not have, and the same for the same text', () => {
    const parts = fc.constantFrom('DATA-1', 'DATA-2', '>>>', '<<<', '\n', 'DATA-', '1', 'text');
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 20 }), (words) => {
        const text = words.join('');
        const block = fenced('Output', text);
        assert.equal(block, fenced('Output', text));
        const mark = /^<<<(DATA-\d+) /.exec(block)?.[1] ?? '';
        assert.ok(mark !== '' && !text.includes(mark));
        assert.ok(block.endsWith(`\n${text}\n${mark}>>>`));
      }),
    );
  });
});
