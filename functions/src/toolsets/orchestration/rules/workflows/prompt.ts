/** What a step asks of its agent. */
import type { AgentRole } from '../agents/profile.ts';
import { allSteps, type Step, type Workflow } from './definition.ts';
import { BoundedText, fenced, printed, type Scope } from './scope.ts';
import { renderTemplate } from './template.ts';

const TASK_OF_ROLE: Readonly<Record<AgentRole, string>> = {
  plan: 'Plan how to do this. Give numbered steps that somebody else can carry out, and do not carry them out yourself.',
  execute: 'Do this, completely.',
  review:
    'Review what has been done for this. Name what is wrong, how serious it is and how to put it right.',
};

/**
 * A step's own template; without one, what its role asks for: the input, the context and the outputs so far. A
 * lone step that executes passes the input on as it is, and one that picks gets nothing but the task: the answers
 * come with the request to rank them.
 * @throws TemplateError where it would be too long
 */
export function promptOf(workflow: Workflow, step: Step, scope: Scope): string {
  if (step.prompt !== undefined) return renderTemplate(step.prompt, scope);
  const outputs = step.picks === undefined ? outputsSoFar(workflow, scope) : [];
  const context = Object.keys(scope.context).length === 0 ? [] : [contextOf(scope)];
  const task = [{ text: scope.input, what: 'the input' }, ...context];
  const isBare = step.picks !== undefined || (step.role === 'execute' && outputs.length === 0);
  const role = { text: TASK_OF_ROLE[step.role], what: 'what the role asks for' };
  return together(isBare ? task : [role, ...task, ...outputs]);
}

interface Paragraph {
  readonly text: string;
  /** Names it where it is one too many. */
  readonly what: string;
}

function outputsSoFar(workflow: Workflow, scope: Scope): readonly Paragraph[] {
  return allSteps(workflow).flatMap(({ name }) => {
    const output = scope.steps.get(name)?.output ?? '';
    const what = `the output of the step ${name}, which has ${output.length} characters`;
    return output === '' ? [] : [{ text: fenced(`Output of the step ${name}`, output), what }];
  });
}

function contextOf({ context }: Scope): Paragraph {
  return { text: `Context: ${printed(context)}`, what: 'the context' };
}

function together(paragraphs: readonly Paragraph[]): string {
  const whole = new BoundedText();
  for (const [index, { text, what }] of paragraphs.entries()) {
    if (index > 0) whole.add('\n\n', what);
    whole.add(text, what);
  }
  return whole.toString();
}
