/** Budgets of an item and its parents, and a form for the item's own limit. Source: docs/guides/graph.md. */
import { useSignal } from '@preact/signals';
import { z } from 'zod/mini';
import { act } from '../calls/tools.ts';
import { ActionButton } from './ActionButton.tsx';
import { clearSent } from './formState.ts';
import { UserText } from './UserText.tsx';

const amount = z.object({ money: z.exactOptional(z.number()), tokens: z.exactOptional(z.number()) });
export const budget = z.object({ kind: z.string(), id: z.string(), limit: amount, spent: amount, left: amount });
type Budget = z.output<typeof budget>;

interface BudgetsProps {
  readonly kind: 'workspace' | 'todo' | 'task' | 'run';
  readonly id: string;
  readonly budgets: readonly Budget[];
  /** Called after the limit has changed. */
  changed(): void;
}

export function Budgets({ kind, id, budgets, changed }: BudgetsProps) {
  const own = budgets.find((one) => one.kind === kind && one.id === id);
  return (
    <>
      {budgets.map((one) => (
        <Spent key={`${one.kind} ${one.id}`} of={one} />
      ))}
      <Limit kind={kind} id={id} money={own?.limit.money} changed={changed} />
    </>
  );
}

function Spent({ of: { kind, id, limit, spent, left } }: { readonly of: Budget }) {
  const isSpent = (left.money ?? 1) <= 0 || (left.tokens ?? 1) <= 0;
  const max = [
    limit.money !== undefined && `$${limit.money.toFixed(2)}`,
    limit.tokens !== undefined && `${limit.tokens.toLocaleString()} tokens`,
  ].filter((words) => words !== false);
  return (
    <p class={isSpent ? 'error' : 'soft'}>
      {`${max.length === 0 ? 'No limit' : `At most ${max.join(' and ')}`} for the ${nameOf(kind)} `}
      <UserText text={id} />
      {`: $${(spent.money ?? 0).toFixed(4)} and ${(spent.tokens ?? 0).toLocaleString()} tokens are spent.`}
      {isSpent && ' Further work waits until the limit is raised.'}
    </p>
  );
}

/** Returns the name that people see for a kind of item. */
export function nameOf(kind: string): string {
  return kind === 'todo' ? 'to-do' : kind.replace('_', ' ');
}

interface LimitProps extends Pick<BudgetsProps, 'kind' | 'id' | 'changed'> {
  readonly money: number | undefined;
}

function Limit({ kind, id, money, changed }: LimitProps) {
  const typed = useSignal<string | undefined>(undefined);
  const shown = typed.value ?? (money === undefined ? '' : String(money));
  const dollars = shown.trim() === '' ? null : Number(shown);
  const isPossible = dollars === null || (Number.isFinite(dollars) && dollars >= 0);
  return (
    <div class="write">
      <label>
        {`May cost, in US dollars, with all parts of the ${nameOf(kind)}; empty: no limit`}
        <input inputMode="decimal" value={shown} onInput={(event) => (typed.value = event.currentTarget.value)} />
      </label>
      <ActionButton
        label="Set the limit"
        disabled={typed.value === undefined || !isPossible}
        act={async () => {
          const sent = typed.value;
          const limit = dollars === null ? { clear: ['money'] } : { money: dollars };
          await act('system.setBudget', { kind, id, ...limit }, z.object({}));
          clearSent(sent, typed, undefined);
          changed();
        }}
      />
    </div>
  );
}
