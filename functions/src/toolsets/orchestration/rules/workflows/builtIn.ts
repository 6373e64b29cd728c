/** The built-in workflows, in the language of all others. Source: docs/semantics.md#orchestration. */
import definitions from './builtIn.json' with { type: 'json' };
import type { Workflow } from './definition.ts';
import { readWorkflow } from './validation.ts';

let read: readonly Workflow[] | undefined;

/** In the order in which they are listed. Read on first use: most calls need none, and a cold start waits for all. */
export function builtIns(): readonly Workflow[] {
  read ??= definitions.map((definition) => readWorkflow(definition, 'workflow'));
  return read;
}

export function builtIn(name: string): Workflow | undefined {
  return builtIns().find((workflow) => workflow.name === name);
}
