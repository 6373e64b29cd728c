/** Button at a task that is out of budget, which opens the field of the exhausted limit. */

import { needsYou as text } from '../../../text/needsYou.ts';
import { LimitField } from '../../parts/LimitField.tsx';

const KINDS = ['workspace', 'todo', 'task', 'run'] as const;

/** @param budgetKey kind and id of the budget: `task-…`. Source: functions/src/graph/rules/budget.ts */
export function RaiseLimit({ budgetKey }: { readonly budgetKey: string }) {
  const kind = KINDS.find((one) => budgetKey.startsWith(`${one}-`));
  if (kind === undefined) return null;
  const id = budgetKey.slice(kind.length + 1);
  return <LimitField kind={kind} id={id} money={undefined} label={text.raise} changed={() => undefined} />;
}
