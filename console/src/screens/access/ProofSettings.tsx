/** Requirements of the workspace for results, before tasks are done. Leaders can change them. */
import { useSignal } from '@preact/signals';
import { z } from 'zod/mini';
import { DEFAULT_PROOF } from '../../../../functions/src/access/rules/proofSettings.ts';
import { proofSettings as text } from '../../../text/requirements.ts';
import { fill, plural } from '../../../ui/format.ts';
import { UserText } from '../../../ui/UserText.tsx';
import { act } from '../../calls/tools.ts';
import { workspaceDocument } from '../../live/documents.ts';
import { useLive } from '../../live/live.ts';
import { workspaceOf } from '../../live/queries.ts';
import { document } from '../../live/sources.ts';
import { Switch } from '../../parts/ActionFields.tsx';
import { ActionButton } from '../../parts/acting.tsx';
import { DialogButton } from '../../parts/DialogButton.tsx';
import { Section, Shown } from '../../parts/Notice.tsx';
import { nameOfPerson } from '../../parts/people.ts';
import { RequirementFields, requirementsIn, useRequirements } from '../../parts/Requirements.tsx';
import { SelectField } from '../../parts/Select.tsx';
import { TextField } from '../../parts/TextField.tsx';
import { mayAs } from '../../shell/role.ts';

type Stored = NonNullable<z.output<typeof workspaceDocument>['proof']>;
type Default = Stored['defaults'][number];

interface Settings extends Readonly<Omit<Stored, 'defaults'>> {
  readonly defaults: readonly Default[];
}

interface SettingsProps {
  readonly settings: Settings;
  save(changes: Partial<Settings>): Promise<unknown>;
}

export function ProofSettings({ here }: { readonly here: string }) {
  const live = useLive(document(workspaceOf(here), workspaceDocument));
  const settings: Settings = ('value' in live ? live.value?.proof : undefined) ?? DEFAULT_PROOF;
  // The tool replaces all settings.
  const save = (changes: Partial<Settings>) =>
    act('access.update_workspace', { workspace: here, proof: { ...settings, ...changes } }, z.object({}));
  const isLeader = mayAs('leader');
  return (
    <Section title={text.title} actions={isLeader && <AddDefault settings={settings} save={save} />}>
      <Shown live={live} what={text.title.toLowerCase()}>
        {() => (
          <>
            <p class="hint">{settings.defaults.length === 0 ? text.none : text.hint}</p>
            <ul class="card rows">
              {settings.defaults.map((one, index) => (
                // The list has no ids, and each change replaces it.
                <li key={index} class="row">
                  <div class="grow">
                    <p>{titleOf(one, index)}</p>
                    <p class="hint">
                      <UserText text={requiredBy(one)} limit={300} />
                    </p>
                  </div>
                  {isLeader && (
                    <ActionButton
                      small
                      kind="quiet"
                      label={text.remove}
                      act={() => save({ defaults: settings.defaults.filter((other) => other !== one) })}
                    />
                  )}
                </li>
              ))}
              <li class="row">
                <div class="grow">
                  <p>{text.limits}</p>
                  <p class="hint">{limitsOf(settings).join(' · ')}</p>
                </div>
                {isLeader && <Limits settings={settings} save={save} />}
              </li>
            </ul>
          </>
        )}
      </Shown>
    </Section>
  );
}

function titleOf({ type }: Default, index: number): string {
  if (type !== undefined) return fill(text.ofType, { type });
  return index === 0 ? text.all : text.everyType;
}

function requiredBy({ command, review, confirm }: Default): string {
  const who = confirm && (nameOfPerson(confirm) ?? confirm);
  const parts = [
    command && fill(text.command, { command }),
    review && (review === 'any' ? text.anyReview : fill(text.review, { capability: review })),
    who && (who === 'owner' ? text.byOwner : fill(text.confirm, { who })),
  ];
  return parts.filter(Boolean).join(', ');
}

function limitsOf({ rounds, hours, otherwise, terminals, file_wait_minutes: minutes }: Settings): readonly string[] {
  const words = otherwise === 'fail' ? text.otherwiseWords.fail : text.otherwiseWords.ask;
  return [
    plural(rounds, text.summary),
    fill(plural(hours, text.hoursWords), { otherwise: words }),
    plural(minutes, text.filesWords),
    ...(terminals ? [text.terminalsWords] : []),
  ];
}

function AddDefault({ settings, save }: SettingsProps) {
  const required = useRequirements();
  const type = useSignal('');
  const given = requirementsIn(required);
  async function add() {
    const kind = type.value.trim();
    await save({ defaults: [...settings.defaults, { ...given, ...(kind !== '' && { type: kind }) }] });
    for (const field of [...Object.values(required), type]) field.value = '';
  }
  return (
    <DialogButton
      small
      icon="plus"
      title={text.add}
      action={{ label: text.addIt, disabled: Object.keys(given).length === 0, act: add }}>
      <RequirementFields of={required} />
      <TextField label={text.type} hint={text.typeHint} of={type} />
    </DialogButton>
  );
}

const OTHERWISE = Object.entries(text.otherwiseOptions);

function Limits({ settings, save }: SettingsProps) {
  const numbers = { rounds: useSignal(''), hours: useSignal(''), file_wait_minutes: useSignal('') };
  const otherwise = useSignal('');
  const terminals = useSignal(false);
  const names = ['rounds', 'hours', 'file_wait_minutes'] as const;
  const opened = () => {
    for (const name of names) numbers[name].value = String(settings[name]);
    otherwise.value = settings.otherwise;
    terminals.value = settings.terminals;
  };
  const { rounds, hours, file_wait_minutes: minutes } = numbers;
  const isPossible = isWhole(rounds.value, 1, 10) && isWhole(hours.value, 1, 168) && isWhole(minutes.value, 0, 1440);
  const change = () =>
    save({
      rounds: Number(rounds.value),
      hours: Number(hours.value),
      file_wait_minutes: Number(minutes.value),
      otherwise: otherwise.value,
      terminals: terminals.value,
    });
  return (
    <DialogButton
      small
      title={text.edit}
      opened={opened}
      action={{ label: text.edit, disabled: !isPossible, act: change }}>
      <div class="two">
        <TextField label={text.rounds} hint={text.roundsHint} of={rounds} inputMode="numeric" />
        <TextField label={text.hours} hint={text.hoursHint} of={hours} inputMode="numeric" />
      </div>
      <SelectField label={text.otherwise} of={otherwise} options={OTHERWISE} />
      <TextField label={text.files} hint={text.filesHint} of={minutes} inputMode="numeric" />
      <Switch isOn={terminals.value} set={(isOn) => (terminals.value = isOn)}>
        {text.terminals}
      </Switch>
    </DialogButton>
  );
}

const isWhole = (typed: string, min: number, max: number): boolean =>
  /^\d+$/.test(typed.trim()) && Number(typed) >= min && Number(typed) <= max;
