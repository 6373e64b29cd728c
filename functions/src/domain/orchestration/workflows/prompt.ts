/** What a step asks of its agent. */
import type { AgentRole } from '../agents/profile.ts';
import { fenced } from '../fence.ts';
import { allSteps, type Step, type Workflow } from './definition.ts';
import type { Scope } from './scope.ts';
import { printed } from './scope.ts';
import { renderTemplate } from './template.ts';

const TASK_OF_ROLE: Readonly<Record<AgentRole, string>> = {
  plan: 'Plan how to do this. Give numbered steps that somebody else can carry out, and do not carry them out yourself.',
  execute: 'Do this, completely.',
  review:
    'Review what has been done for this. Name what is wrong, how serious it is and how to put it right.',
};

/**
 * A step's own template; without one, what its role asks for: the input, the context and the outputs so far. A
 * lone step that executes passes the input on as it is.
 * @throws TemplateError where it would be too long
 */
export function promptOf(workflow: Workflow, step: Step, scope: Scope): string {
  if (step.prompt !== undefined) return renderTemplate(step.prompt, scope);
  const outputs = allSteps(workflow).flatMap(({ name }) => {
    const output = scope.steps.get(name)?.output ?? '';
    return output === '' ? [] : [fenced(`Output of the step ${name}`, output)];
  });
  const context = Object.keys(scope.context).length === 0 ? [] : [`Context: ${printed(scope.context)}`];
  if (step.role === 'execute' && outputs.length === 0) return [scope.input, ...context].join('\n\n');
  return [TASK_OF_ROLE[step.role], scope.input, ...context, ...outputs].join('\n\n');
}
