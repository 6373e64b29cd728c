/** Definitions of workflows, the built-in workflows, and the steps that a run executes next. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { allSteps, type Workflow } from '../../../functions/src/toolsets/orchestration/rules/workflows/definition.ts';
import { builtIn, builtIns } from '../../../functions/src/toolsets/orchestration/rules/workflows/library.ts';
import {
  type DueStep,
  outcomeKey,
  type Progress,
  progressOf,
  Replay,
} from '../../../functions/src/toolsets/orchestration/rules/workflows/progress.ts';
import type { StepOutcome } from '../../../functions/src/toolsets/orchestration/rules/workflows/scope.ts';
import { readWorkflow } from '../../../functions/src/toolsets/orchestration/rules/workflows/validation.ts';
import { refusal } from '../../support/refusal.ts';

const steps = (...list: readonly object[]) => ({ name: 'custom', steps: list });

describe('definition of a workflow', () => {
  it('is accepted for the example of the specification, as an object and as JSON', () => {
    const example = steps(
      { agent: 'claude', role: 'plan' },
      { agent: 'gemini', role: 'execute' },
      { agent: 'claude', role: 'review' },
    );
    const workflow = readWorkflow(example, 'workflow');
    assert.deepEqual(readWorkflow(JSON.stringify(example), 'workflow'), workflow);
    const rows = allSteps(workflow).map(({ name, agent, role }) => [name, agent, role]);
    assert.deepEqual(rows, [
      ['step_1', 'claude', 'plan'],
      ['step_2', 'gemini', 'execute'],
      ['step_3', 'claude', 'review'],
    ]);
  });

  it('is unchanged after it is serialized and parsed', () => {
    for (const workflow of builtIns()) assert.deepEqual(readWorkflow(JSON.stringify(workflow), 'workflow'), workflow);
  });

  const plan = { name: 'plan', agent: 'claude' };
  const refused: readonly [string, unknown, RegExp, string][] = [
    ['text that is not JSON', 'plan', /Invalid workflow: expected an object/, 'workflow'],
    ['a number', 7, /Invalid workflow: expected an object/, 'workflow'],
    ['no steps', steps(), /The workflow: steps: /, 'workflow.steps'],
    ['no name', { steps: [plan] }, /The workflow: name: /, 'workflow.name'],
    ['an unknown field', { ...steps(plan), loop: true }, /The workflow: .*"loop"/, 'workflow'],
    ['an invalid step', steps(plan, { ...plan, agent: 7 }), /Step "plan": agent: /, 'workflow.steps.1.agent'],
    ['an unknown field of a step', steps({ ...plan, model: 'x' }), /Step "plan": .*"model"/, 'workflow.steps.0'],
    ['a step that is not an object', steps(plan, []), /Step "step_2"/, 'workflow.steps.1'],
    [
      'two steps with the same name',
      steps(plan, plan),
      /Step "plan": another step has the same name/,
      'workflow.steps',
    ],
    [
      'an unknown agent',
      steps({ agent: 'gpt' }),
      /Step "step_1": unknown agent "gpt"\. Use claude, gemini, auto/,
      'workflow.steps.0.agent',
    ],
    [
      'agent and agents',
      steps({ agent: 'claude', agents: ['gemini'] }),
      /either agent or agents, not both/,
      'workflow.steps.0.agents',
    ],
    ['an agent twice', steps({ agents: ['claude', 'claude'] }), /duplicate agent/, 'workflow.steps.0.agents'],
    [
      'auto among several agents',
      steps({ agents: ['claude', 'auto'] }),
      /"auto" must be a step's only agent/,
      'workflow.steps.0.agents',
    ],
    [
      'a mode for one agent',
      steps({ agent: 'claude', mode: 'vote' }),
      /mode vote requires several agents/,
      'workflow.steps.0.mode',
    ],
    [
      'capabilities for a hosted agent',
      steps({ agent: 'claude', capabilities: ['x'] }),
      /capabilities apply only to the agent "network"/,
      'workflow.steps.0.capabilities',
    ],
    [
      'an invalid condition',
      steps({ ...plan, condition: 'input ==' }),
      /Step "plan": condition: /,
      'workflow.steps.0.condition',
    ],
    [
      'an invalid template',
      steps({ ...plan, prompt: '{{#input}}' }),
      /Step "plan": prompt: .*Unclosed section/,
      'workflow.steps.0.prompt',
    ],
    [
      'a reference to an unknown step',
      steps({ ...plan, prompt: '{{steps.x.output}}' }),
      /the step "x" does not exist/,
      'workflow.steps.0.prompt',
    ],
    [
      'a reference to a later step',
      steps({ ...plan, condition: 'steps.b.output == ""' }, { name: 'b' }),
      /the step "b" does not come before it/,
      'workflow.steps.0.condition',
    ],
    [
      'a reference to a parallel step',
      steps({ name: 'a', parallel: true }, { name: 'b', parallel: true, prompt: '{{steps.a.output}}' }),
      /"a" does not come before/,
      'workflow.steps.1.prompt',
    ],
    [
      'a pick from a step with one agent',
      steps(plan, { name: 'b', picks: 'plan' }),
      /step with several agents and mode all, but "plan" is not such a step/,
      'workflow.steps.1.picks',
    ],
    [
      'a pick from an unknown step',
      steps({ name: 'b', picks: 'x' }),
      /the step "x" does not exist/,
      'workflow.steps.0.picks',
    ],
    ['a result from an unknown step', { ...steps(plan), result: ['x'] }, /result: unknown step "x"/, 'workflow.result'],
    [
      'too many rounds',
      steps({ repeat: { until: 'true', max: 11 }, steps: [plan] }),
      /The group at workflow\.steps\.0: repeat\.max: /,
      'workflow.steps.0.repeat.max',
    ],
    [
      'a group that ends by a later step',
      steps({ repeat: { until: 'steps.b.output == ""', max: 2 }, steps: [plan] }, { name: 'b' }),
      /The group at steps\.0: repeat\.until: the step "b" does not come before it/,
      'workflow.steps.0.repeat.until',
    ],
    [
      'too many steps',
      steps({ repeat: { until: 'true', max: 2 }, steps: Array.from({ length: 19 }, () => ({})) }, {}, {}),
      /has 21 steps; the maximum is 20/,
      'workflow.steps',
    ],
    [
      'a group in a group',
      steps({ repeat: { until: 'true', max: 2 }, steps: [{ repeat: { until: 'true', max: 2 }, steps: [plan] }] }),
      /Step "step_1"/,
      'workflow.steps.0.steps.0',
    ],
    [
      'a timeout above the maximum',
      steps({ ...plan, timeout: 1_000_000 }),
      /Step "plan": timeout: /,
      'workflow.steps.0.timeout',
    ],
    [
      'a definition above the size limit',
      steps(...Array.from({ length: 20 }, () => ({ prompt: 'x'.repeat(19_000) }))),
      /limited to 100000 bytes/,
      'workflow',
    ],
  ];
  for (const [what, definition, why, field] of refused)
    it(`is rejected if it has ${what}`, async () => {
      const error = await refusal(() => readWorkflow(definition, 'workflow', ['claude', 'gemini']));
      assert.match(error.message, why);
      assert.equal(error.details.field, field);
      assert.ok(error.details.suggestion);
    });

  it('is accepted for the example of the guide', () => {
    const guide = readFileSync(new URL('../../../docs/guides/workflows.md', import.meta.url), 'utf8');
    const example = /^ {4}\{\n[\s\S]*?^ {4}\}$/m.exec(guide)?.[0];
    assert.equal(readWorkflow(example, 'workflow').name, 'careful');
  });

  it('may refer to the output of a step in the same group from the previous round', () => {
    readWorkflow(
      steps({
        repeat: { until: 'steps.b.output == "x"', max: 2 },
        steps: [{ name: 'a', prompt: '{{steps.b.output}}' }, { name: 'b' }],
      }),
      'workflow',
    );
  });
});

describe('order of the steps in a run', () => {
  const given = { input: 'Write a parser.', context: {} };

  /** Runs a workflow in which each step has the given output, and returns the steps in the order of execution. */
  function played(
    workflow: Workflow,
    says: (step: DueStep) => string,
  ): { readonly order: string[][]; readonly end: Progress; readonly prompts: Map<string, string> } {
    const outcomes = new Map<string, StepOutcome>();
    const order: string[][] = [];
    const prompts = new Map<string, string>();
    const replay = new Replay(workflow, given, outcomes);
    for (;;) {
      const progress = progressOf(workflow, given, outcomes);
      assert.deepEqual(replay.progress(), progress, 'a replay that continues equals a new replay');
      if (progress.next.kind !== 'execute') return { order, end: progress, prompts };
      order.push(progress.next.steps.map(outcomeKey));
      for (const due of progress.next.steps) {
        prompts.set(outcomeKey(due), due.prompt);
        const results = due.step.agents?.map((agent) => ({ agent, output: `${agent} says` }));
        outcomes.set(outcomeKey(due), { status: 'done', output: says(due), ...(results && { results }) });
      }
    }
  }

  function named(name: string): Workflow {
    const workflow = builtIn(name);
    assert.ok(workflow);
    return workflow;
  }

  const finished = ({ next }: Progress) => next.kind === 'finished' && [next.result, next.output];
  const nameOf = ({ name }: DueStep) => name;

  it('in the workflow "direct" is one step, with the input as its prompt', () => {
    const { order, end, prompts } = played(named('direct'), nameOf);
    assert.deepEqual([order, finished(end)], [[['execute#1']], ['execute', 'execute']]);
    assert.equal(prompts.get('execute#1'), given.input);
  });

  it('in the workflow "plan-execute" is the plan and then its execution', () => {
    const { order, prompts } = played(named('plan-execute'), nameOf);
    assert.deepEqual(order, [['plan#1'], ['execute#1']]);
    assert.match(prompts.get('execute#1') ?? '', /Write a parser\.[\s\S]*Output of the step plan[\s\S]*\nplan\n/);
  });

  it('in the workflow "competitive" ends with the choice of the best answer', () => {
    const { order, end } = played(named('competitive'), nameOf);
    assert.deepEqual(
      [order, finished(end)],
      [
        [['compete#1'], ['pick#1']],
        ['pick', 'pick'],
      ],
    );
  });

  it('provides the candidate answers to the step that picks one of them', () => {
    const compete = { status: 'done', output: '', results: [{ agent: 'claude', output: 'x' }] } as const;
    const { next } = progressOf(named('competitive'), given, new Map([['compete#1', compete]]));
    assert.deepEqual(next.kind === 'execute' && next.steps[0]?.candidates, compete.results);
  });

  it('puts only the task and its context into the prompt of the step that picks an answer', () => {
    const context = { style: 'terse' };
    const compete = { status: 'done', output: '## claude\n\nx', results: [] } as const;
    const { next } = progressOf(named('competitive'), { ...given, context }, new Map([['compete#1', compete]]));
    assert.equal(next.kind === 'execute' && next.steps[0]?.prompt, 'Write a parser.\n\nContext: {"style":"terse"}');
  });

  it('in the workflow "iterative" repeats the steps until the review approves', () => {
    const { order, end } = played(named('iterative'), ({ name, iteration }) =>
      name === 'review' ? (iteration === 2 ? 'APPROVED' : 'CHANGES: not APPROVED') : `${name} ${iteration}`,
    );
    assert.deepEqual(order, [['execute#1'], ['review#1'], ['refine#1'], ['review#2']]);
    assert.deepEqual(finished(end), ['refine', 'refine 1']);
    assert.deepEqual([end.skipped, end.warnings], [[{ name: 'refine', iteration: 2 }], []]);
  });

  it('in the workflow "iterative" ends after three rounds with a warning if no review approves', () => {
    const { order, end } = played(named('iterative'), ({ name, iteration }) => `${name} ${iteration}`);
    assert.equal(order.length, 7);
    assert.deepEqual(finished(end), ['refine', 'refine 3']);
    assert.match(end.warnings.join(), /stopped after 3 rounds/);
  });

  it('in the workflow "code-review" has parallel reviews, and a fix only after findings', () => {
    const fixed = played(named('code-review'), ({ name }) => (name === 'security' ? 'FINDINGS' : 'NO FINDINGS'));
    assert.deepEqual(fixed.order, [['generate#1'], ['security#1', 'performance#1'], ['fixes#1']]);
    const clean = played(named('code-review'), ({ name }) => (name === 'generate' ? 'code' : ' NO FINDINGS'));
    assert.deepEqual(clean.order.at(-1), ['security#1', 'performance#1']);
    assert.deepEqual(finished(clean.end), ['generate', 'code']);
  });

  it('omits ended parallel steps, and hides their output from other steps of the same group', () => {
    const workflow = named('code-review');
    const outcomes = new Map<string, StepOutcome>([
      ['generate#1', { status: 'done', output: 'code' }],
      ['security#1', { status: 'done', output: 'hole' }],
    ]);
    const { next } = progressOf(workflow, given, outcomes);
    assert.ok(next.kind === 'execute');
    assert.deepEqual(next.steps.map(outcomeKey), ['performance#1']);
    assert.doesNotMatch(next.steps[0]?.prompt ?? '', /hole/);
  });

  it('ends with a failure that names the step if a step fails', () => {
    const outcomes = new Map<string, StepOutcome>([['plan#1', { status: 'failed', error: 'No key.' }]]);
    const { next } = progressOf(named('plan-execute'), given, outcomes);
    const at = { name: 'plan', iteration: 1 };
    assert.deepEqual(next, { kind: 'failed', at, reason: 'STEP_FAILED', error: 'No key.' });
  });

  it('ends with a failure if a condition cannot be evaluated', () => {
    const workflow = readWorkflow(steps({ name: 'a', condition: 'context.missing' }), 'workflow');
    const { next } = progressOf(workflow, given, new Map());
    assert.ok(next.kind === 'failed');
    assert.match(next.error, /condition context\.missing could not be evaluated: No such key: missing\./);
  });

  it('ends with a failure if a prompt would be too long', () => {
    const prompt = '{{#context.list}}{{#context.list}}{{.}}{{/context.list}}{{/context.list}}';
    const workflow = readWorkflow(steps({ name: 'a', prompt }), 'workflow');
    const context = { list: Array.from({ length: 300 }, () => 'x'.repeat(1000)) };
    const { next } = progressOf(workflow, { ...given, context }, new Map());
    assert.ok(next.kind === 'failed');
    assert.equal(next.reason, 'PROMPT_TOO_LARGE');
    assert.match(next.error, /The prompt could not be built: With \{\{\.\}\} \(1000 characters\)/);
  });

  it('ends with a failure if all outputs together are too long, even without a template', () => {
    const writers = Array.from({ length: 4 }, (_, number) => ({ name: `w${number}`, parallel: true }));
    const workflow = readWorkflow(steps(...writers, { name: 'sum' }), 'workflow');
    const long = { status: 'done', output: 'x'.repeat(250_000) } as const;
    const { next } = progressOf(workflow, given, new Map(writers.map(({ name }) => [`${name}#1`, long])));
    assert.ok(next.kind === 'failed');
    assert.equal(next.reason, 'PROMPT_TOO_LARGE');
    assert.match(next.error, /With the output of the step w3 \(250000 characters\), the prompt would/);
  });

  it('ends with an empty output if every step is skipped', () => {
    const workflow = readWorkflow(steps({ name: 'a', condition: 'false' }), 'workflow');
    const { next, skipped } = progressOf(workflow, given, new Map());
    assert.deepEqual(next, { kind: 'finished', output: '', result: undefined });
    assert.deepEqual(skipped, [{ name: 'a', iteration: 1 }]);
  });
});
