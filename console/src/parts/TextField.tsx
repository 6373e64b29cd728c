/** Field for a text that a signal holds. */
import type { Signal } from '@preact/signals';
import { h, type TargetedInputEvent } from 'preact';
import { Field, type FieldText } from './Field.tsx';

interface TextFieldProps extends FieldText {
  readonly of: Signal<string>;
  readonly type?: 'email' | 'datetime-local';
  readonly inputMode?: 'decimal' | 'numeric';
  readonly placeholder?: string | undefined;
  readonly isInvalid?: boolean;
  /** Whether the text can have several lines. */
  readonly isLong?: boolean;
}

export function TextField({ label, hint, error, of, isInvalid = false, isLong = false, ...more }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(field) =>
        h(isLong ? 'textarea' : 'input', {
          ...field,
          ...more,
          value: of.value,
          'aria-invalid': isInvalid || field['aria-invalid'],
          autocomplete: 'off',
          onInput: (event: TargetedInputEvent<HTMLInputElement | HTMLTextAreaElement>) =>
            (of.value = event.currentTarget.value),
        })
      }
    </Field>
  );
}
