/** A field of a form: its label above, a hint or an error below. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

export interface FieldAttributes {
  readonly id: string;
  readonly class: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': boolean;
}

export interface FieldText {
  readonly label: string;
  readonly hint?: string | undefined;
  /** Why the value isn't possible; empty if it is. */
  readonly error?: string | undefined;
}

interface FieldProps extends FieldText {
  /** @returns the input, with the given attributes */
  children(attributes: FieldAttributes): ComponentChildren;
}

export function Field({ label, hint = '', error = '', children }: FieldProps) {
  const id = useId();
  const below = error === '' ? hint : error;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        class: 'input',
        'aria-describedby': below === '' ? undefined : `${id}-hint`,
        'aria-invalid': error !== '',
      })}
      {below !== '' && (
        <p id={`${id}-hint`} class={error === '' ? 'hint' : 'hint bad'}>
          {below}
        </p>
      )}
    </div>
  );
}
