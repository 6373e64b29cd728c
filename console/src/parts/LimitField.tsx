/** Limit of an item or of the workspace: a button that opens a field. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { z } from 'zod/mini';
import { common, kinds } from '../../text/common.ts';
import { task as text } from '../../text/task.ts';
import { fill } from '../../ui/format.ts';
import { act } from '../calls/tools.ts';
import { ActionButton, tell } from './acting.tsx';
import { Field } from './Field.tsx';

interface LimitFieldProps {
  readonly kind: 'workspace' | 'todo' | 'task' | 'run';
  readonly id: string;
  /** Present limit in US dollars. */
  readonly money: number | undefined;
  /** Amount that the field proposes. */
  readonly proposed?: number | undefined;
  readonly label?: string;
  /** Called after the limit has changed. */
  changed(): void;
}

export function LimitField({ kind, id, money, proposed = money, label = text.setLimit, changed }: LimitFieldProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const typed = useSignal('');
  const dollars = typed.value.trim() === '' ? undefined : Number(typed.value.replace(',', '.'));
  const isPossible = dollars === undefined || (Number.isFinite(dollars) && dollars >= 0 && dollars <= 1e6);
  return (
    <>
      <button
        type="button"
        class="b quiet small"
        onClick={() => {
          typed.value = proposed === undefined ? '' : String(proposed);
          dialog.current?.showModal();
        }}>
        {label}
      </button>
      <dialog ref={dialog} class="dialog" aria-label={text.spendingLimit}>
        <form class="stack" onSubmit={(event) => event.preventDefault()}>
          <h2>{text.spendingLimit}</h2>
          <Field label={text.spendingLimit} hint={fill(text.spendingLimitHint, { kind: kinds[kind]?.[0] ?? kind })}>
            {(field) => (
              <input
                {...field}
                inputMode="decimal"
                value={typed.value}
                aria-invalid={!isPossible}
                onInput={(event) => (typed.value = event.currentTarget.value)}
              />
            )}
          </Field>
          <p class="acts end">
            <button type="button" class="b" onClick={() => dialog.current?.close()}>
              {common.cancel}
            </button>
            <ActionButton
              kind="primary"
              label={text.setLimit}
              disabled={!isPossible}
              act={async () => {
                const limit = dollars === undefined ? { clear: ['money'] } : { money: dollars };
                await act('system.setBudget', { kind, id, ...limit }, z.object({}));
                dialog.current?.close();
                tell(text.limitSet);
                changed();
              }}
            />
          </p>
        </form>
      </dialog>
    </>
  );
}
