import { ConditionError, checkCondition } from './condition.ts';
import { allSteps, blocksOf, type Group, isGroup, type Step, stagesOf, type Workflow } from './definition.ts';
import type { Problem } from './stepProblem.ts';
import { checkTemplate } from './template.ts';
import { TemplateError } from './templateParts.ts';

/** What is wrong with the templates and conditions of a step or a group, or with the steps that they name. */
export function referenceProblem(workflow: Workflow, of: Step | Group): Problem | undefined {
  const known = reachable(workflow, of);
  const all = allSteps(workflow).map(({ name }) => name);
  for (const [at, named] of namings(of)) {
    const steps = namedSteps(named);
    if (typeof steps === 'string') return { reason: `${at}: ${steps}`, at };
    const missing = steps.find((name) => !known.includes(name));
    if (missing === undefined) continue;
    const why = all.includes(missing) ? 'does not come before it' : 'does not exist';
    return { reason: `${at}: the step "${missing}" ${why}.`, at };
  }
  return undefined;
}

/** Where a step or a group may name steps, and what finds the names there. */
function namings(of: Step | Group): [at: string, () => readonly string[]][] {
  if (isGroup(of)) return [['repeat.until', () => checkCondition(of.repeat.until).steps]];
  const { prompt, condition, picks } = of;
  return [
    ['prompt', () => (prompt === undefined ? [] : checkTemplate(prompt).steps)],
    ['condition', () => (condition === undefined ? [] : checkCondition(condition).steps)],
    ['picks', () => (picks === undefined ? [] : [picks])],
  ];
}

/** The names, or why there are none. */
function namedSteps(find: () => readonly string[]): readonly string[] | string {
  try {
    return find();
  } catch (error) {
    if (error instanceof ConditionError || error instanceof TemplateError) return error.message;
    throw error;
  }
}

/** The steps that have run before it; within a repeated group all of the group's, from the round before. */
function reachable(workflow: Workflow, of: Step | Group): readonly string[] {
  const before: string[] = [];
  for (const block of blocksOf(workflow)) {
    const names = block.steps.map(({ name }) => name);
    const isWithin = isGroup(of) ? block.group === of : block.steps.includes(of);
    if (!isWithin) {
      before.push(...names);
      continue;
    }
    if (block.group !== undefined) return [...before, ...names];
    for (const stage of stagesOf(block.steps)) {
      if (!isGroup(of) && stage.includes(of)) break;
      before.push(...stage.map(({ name }) => name));
    }
    return before;
  }
  return before;
}
