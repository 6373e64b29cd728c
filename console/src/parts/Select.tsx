/** Lists of options, of which one is chosen. */
import type { Signal } from '@preact/signals';
import { Field, type FieldAttributes, type FieldText } from './Field.tsx';

export interface SelectProps extends Partial<FieldAttributes> {
  readonly 'aria-label'?: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly disabled?: boolean | undefined;
  /** Text at the end, if there are more options than are listed. */
  readonly more?: string | false;
  onFocus?(): void;
  choose(value: string, select: HTMLSelectElement): void;
}

export function Select({ options, more = false, choose, class: name = 'input short', ...attributes }: SelectProps) {
  return (
    <select {...attributes} class={name} onChange={({ currentTarget }) => choose(currentTarget.value, currentTarget)}>
      {options.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
      {more !== false && <option disabled>{more}</option>}
    </select>
  );
}

interface SelectFieldProps extends FieldText, Pick<SelectProps, 'options'> {
  readonly of: Signal<string>;
}

/** Field for one of several options, whose value a signal holds. */
export function SelectField({ label, hint, of, options }: SelectFieldProps) {
  return (
    <Field label={label} hint={hint}>
      {(field) => <Select {...field} value={of.value} options={options} choose={(value) => (of.value = value)} />}
    </Field>
  );
}
