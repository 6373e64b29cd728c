/** The built-in workflows, in the language of all others. Source: docs/semantics.md#orchestration. */
import type { Workflow } from './definition.ts';
import { readWorkflow } from './validation.ts';

const APPROVED = 'steps.review.output.trim().startsWith("APPROVED")';

const DRAFT = `{{#steps.refine.output}}{{steps.refine.output}}{{/steps.refine.output}}{{^steps.refine.output}}{{steps.execute.output}}{{/steps.refine.output}}`;

/** A review's first line, which a condition reads. */
const FINDINGS =
  'Begin your answer with the line FINDINGS or the line NO FINDINGS. After FINDINGS list each one: where, how serious, how to put it right.';

const DEFINITIONS: readonly object[] = [
  {
    name: 'direct',
    description: 'One agent executes',
    steps: [{ name: 'execute', agent: 'auto', role: 'execute' }],
  },
  {
    name: 'plan-execute',
    description: 'Plan with Claude, execute with Gemini',
    steps: [
      { name: 'plan', agent: 'claude', role: 'plan' },
      { name: 'execute', agent: 'gemini', role: 'execute' },
    ],
  },
  {
    name: 'competitive',
    description: 'Multiple agents compete for best result',
    steps: [
      { name: 'compete', agents: ['claude', 'gemini'], mode: 'all', role: 'execute' },
      { name: 'pick', agent: 'claude', role: 'review', picks: 'compete' },
    ],
  },
  {
    name: 'iterative',
    description: 'Execute, then review and refine until approved, at most 3 times',
    steps: [
      { name: 'execute', agent: 'auto', role: 'execute' },
      {
        repeat: { until: APPROVED, max: 3 },
        steps: [
          {
            name: 'review',
            agent: 'claude',
            role: 'review',
            prompt: `Review whether the work below does what was asked, completely and correctly. Begin your answer with the line APPROVED where nothing of weight is missing, else with the line CHANGES, and after it what must change.\n\nAsked:\n{{input}}\n\n${DRAFT}`,
          },
          {
            name: 'refine',
            agent: 'auto',
            role: 'execute',
            condition: `!${APPROVED}`,
            prompt: `Improve the work below by what its review says, and give the whole of it.\n\nAsked:\n{{input}}\n\n${DRAFT}\n\n{{steps.review.output}}`,
          },
        ],
      },
    ],
    result: ['refine', 'execute'],
  },
  {
    name: 'code-review',
    description: 'Generate, review security and performance at once, and apply fixes if any',
    steps: [
      { name: 'generate', agent: 'gemini', role: 'execute' },
      {
        name: 'security',
        agent: 'claude',
        role: 'review',
        parallel: true,
        prompt: `Review the security of the code below. ${FINDINGS}\n\nAsked:\n{{input}}\n\n{{steps.generate.output}}`,
      },
      {
        name: 'performance',
        agent: 'gemini',
        role: 'review',
        parallel: true,
        prompt: `Review the performance of the code below. ${FINDINGS}\n\nAsked:\n{{input}}\n\n{{steps.generate.output}}`,
      },
      {
        name: 'fixes',
        agent: 'gemini',
        role: 'execute',
        condition:
          '!steps.security.output.trim().startsWith("NO FINDINGS") || !steps.performance.output.trim().startsWith("NO FINDINGS")',
        prompt:
          'Apply what the reviews found to the code below, and give the whole of it.\n\nAsked:\n{{input}}\n\n{{steps.generate.output}}\n\n{{steps.security.output}}\n\n{{steps.performance.output}}',
      },
    ],
    result: ['fixes', 'generate'],
  },
];

let read: readonly Workflow[] | undefined;

/** In the order in which they are listed. Read on first use: most calls need none, and a cold start waits for all. */
export function builtIns(): readonly Workflow[] {
  read ??= DEFINITIONS.map((definition) => readWorkflow(definition, 'workflow'));
  return read;
}

export function builtIn(name: string): Workflow | undefined {
  return builtIns().find((workflow) => workflow.name === name);
}
