/** Fields for the requirements that a result must meet before its task is done: a command, a review, a person's confirmation. */
import { type Signal, useSignal } from '@preact/signals';
import { requirements as text } from '../../text/requirements.ts';
import { knownPeople } from './people.ts';
import { SelectField } from './Select.tsx';
import { TextField } from './TextField.tsx';

export interface Requirements {
  readonly command?: string;
  /** Capability of the reviewer, or `any`. */
  readonly review?: string;
  /** Uid of the person who confirms, or `owner`. */
  readonly confirm?: string;
}

type RequirementSignals = Readonly<Record<keyof Requirements, Signal<string>>>;

export function useRequirements({ command = '', review = '', confirm = '' }: Requirements = {}): RequirementSignals {
  return { command: useSignal(command), review: useSignal(review), confirm: useSignal(confirm) };
}

/** Returns what the person has required; an empty field requires nothing. */
export function requirementsIn(signals: RequirementSignals): Requirements {
  const given = Object.entries(signals).map(([name, { value }]) => [name, value.trim()] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== ''));
}

export function RequirementFields({ of: { command, review, confirm } }: { readonly of: RequirementSignals }) {
  const people = knownPeople().map(({ uid, name }) => [uid, name] as const);
  const isKnown = ['', 'owner', ...people.map(([uid]) => uid)].includes(confirm.value);
  const others = isKnown ? [] : [[confirm.value, confirm.value] as const];
  const options = [['', text.nobody] as const, ['owner', text.owner] as const, ...people, ...others];
  return (
    <>
      <TextField label={text.command} hint={text.commandHint} of={command} />
      <div class="two">
        <TextField label={text.review} hint={text.reviewHint} of={review} />
        <SelectField label={text.confirm} of={confirm} options={options} />
      </div>
    </>
  );
}
