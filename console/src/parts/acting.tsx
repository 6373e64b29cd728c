/** Actions. Overlay.tsx shows the confirmation before an action that one click cannot undo, and a toast with the outcome. */
import { signal, useSignal } from '@preact/signals';
import { Icon } from '../../ui/Icon.tsx';
import type { IconName } from '../../ui/icons.ts';
import { Entry } from '../../ui/Menu.tsx';
import { UserText } from '../../ui/UserText.tsx';
import { ToolError } from '../calls/tools.ts';
import { isOffline } from '../live/sources.ts';

/** Question that a person confirms before an action. */
export interface Confirmation {
  readonly title: string;
  /** The consequence, with numbers. */
  readonly text: string;
  /** Words of the button that changes nothing: `Keep task`. */
  readonly keep: string;
  /** Label of a field for a reason; absent if the action takes none. */
  readonly reason?: string;
  /** Whether the reason must not be empty. */
  readonly isReasonRequired?: boolean;
  readonly isDangerous?: boolean;
}

/** Confirmation that is shown now. */
export interface Asked extends Confirmation {
  readonly go: string;
  settle(answer: { readonly reason: string } | undefined): void;
}

/** Outcome that is shown now. */
export interface Toast {
  readonly text: string;
  readonly isError: boolean;
  undo?(): Promise<unknown>;
}

export const asked = signal<Asked | undefined>(undefined);
export const toast = signal<Toast | undefined>(undefined);

/** Shows the outcome of an action, with a button that undoes it. */
export function tell(text: string, undo?: () => Promise<unknown>): void {
  toast.value = { text, isError: false, ...(undo && { undo }) };
}

export function tellError(error: unknown): void {
  toast.value = { text: messageOf(error), isError: true };
}

export type ButtonKind = 'primary' | 'plain' | 'quiet' | 'danger';

export interface Action {
  readonly label: string;
  readonly confirm?: Confirmation;
  readonly kind?: ButtonKind;
  readonly disabled?: boolean;
  /** Text of the toast after success. */
  readonly done?: string;
  /** @param reason empty if none was asked for or given */
  act(reason: string): Promise<unknown>;
  undo?(): Promise<unknown>;
}

/** Runs an action after its confirmation. @throws what the action throws */
async function run({ label, confirm, kind, done, act, undo }: Action): Promise<void> {
  let reason = '';
  if (confirm !== undefined) {
    const answer = await new Promise<{ readonly reason: string } | undefined>((settle) => {
      asked.value = { ...confirm, go: label, isDangerous: confirm.isDangerous ?? kind === 'danger', settle };
    });
    if (answer === undefined) return;
    reason = answer.reason;
  }
  await act(reason);
  if (done !== undefined) tell(done, undo);
}

interface ButtonProps extends Action {
  readonly icon?: IconName;
  readonly small?: boolean;
  /** Shows only the icon; the label is its accessible name. */
  readonly only?: boolean;
  /** Whether Enter in a field of the form presses the button. */
  readonly isDefault?: boolean;
  readonly class?: string;
}

/** Returns the classes of a button. */
export function buttonClass(kind: ButtonKind = 'plain', ...more: readonly (string | false | undefined)[]): string {
  return ['b', kind !== 'plain' && kind, ...more].filter(Boolean).join(' ');
}

/** Button that calls a tool. While it runs, it keeps its width and shows a ring; an error is shown next to it. */
export function ActionButton({ icon, small = false, only = false, isDefault, class: name, ...action }: ButtonProps) {
  const isBusy = useSignal(false);
  const trouble = useSignal<unknown>(undefined);
  const { label, kind, disabled = false } = action;

  async function press() {
    trouble.value = undefined;
    // During the confirmation, the button stays enabled, so that it gets the focus back.
    const act = (reason: string) => {
      isBusy.value = true;
      return action.act(reason);
    };
    try {
      await run({ ...action, act });
    } catch (error) {
      trouble.value = error;
    } finally {
      isBusy.value = false;
    }
  }

  return (
    <>
      <button
        type={isDefault ? 'submit' : 'button'}
        class={buttonClass(kind, small && 'small', only && 'only', isBusy.value && 'busy', name)}
        aria-label={only ? label : undefined}
        title={only ? label : undefined}
        disabled={disabled || isBusy.value || isOffline.value}
        onClick={() => void press()}>
        {icon !== undefined && <Icon of={icon} small={small} />}
        {!only && label}
      </button>
      {trouble.value !== undefined && <ErrorNotice of={trouble.value} />}
    </>
  );
}

/** Entry of a menu that calls a tool. The menu closes, so a toast shows what the action throws. */
export function ActionEntry({ icon, ...action }: Action & { readonly icon: IconName }) {
  const choose = () => void run(action).catch(tellError);
  const { label, kind, disabled = false } = action;
  const words = action.confirm === undefined ? label : `${label}…`;
  return (
    <Entry
      icon={icon}
      label={words}
      choose={choose}
      {...(kind === 'danger' && { kind: 'bad' })}
      disabled={disabled || isOffline.value}
    />
  );
}

/** Shows why a tool refused a call. */
export function ErrorNotice({ of }: { readonly of: unknown }) {
  return (
    <span class="hint bad" role="alert">
      <UserText text={messageOf(of)} />
    </span>
  );
}

function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return error instanceof ToolError && error.suggestion !== undefined ? `${message} ${error.suggestion}` : message;
}
