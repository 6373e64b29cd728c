/** Limit of an item or of the workspace: a button that opens a field. */
import { useSignal } from '@preact/signals';
import { z } from 'zod/mini';
import { kinds } from '../../text/common.ts';
import { task as text } from '../../text/task.ts';
import { fill } from '../../ui/format.ts';
import { act } from '../calls/tools.ts';
import { DialogButton } from './DialogButton.tsx';
import { TextField } from './TextField.tsx';

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
  const typed = useSignal('');
  const dollars = typed.value.trim() === '' ? undefined : Number(typed.value.replace(',', '.'));
  const isPossible = dollars === undefined || (Number.isFinite(dollars) && dollars >= 0 && dollars <= 1e6);
  return (
    <DialogButton
      title={text.spendingLimit}
      label={label}
      kind="quiet"
      small
      opened={() => (typed.value = proposed === undefined ? '' : String(proposed))}
      action={{
        label: text.setLimit,
        disabled: !isPossible,
        done: text.limitSet,
        act: async () => {
          const limit = dollars === undefined ? { clear: ['money'] } : { money: dollars };
          await act('system.setBudget', { kind, id, ...limit }, z.object({}));
          changed();
        },
      }}>
      <TextField
        label={text.spendingLimit}
        hint={fill(text.spendingLimitHint, { kind: kinds[kind]?.[0] ?? kind })}
        inputMode="decimal"
        of={typed}
        isInvalid={!isPossible}
      />
    </DialogButton>
  );
}
