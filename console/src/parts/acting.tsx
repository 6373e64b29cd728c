/** Actions: confirmation before those that one click cannot undo, and a toast with the outcome of each. */
import { signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { common } from '../../text/common.ts';
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
  readonly isDangerous?: boolean;
}

interface Asked extends Confirmation {
  readonly go: string;
  settle(answer: { readonly reason: string } | undefined): void;
}

interface Toast {
  readonly text: string;
  readonly isError: boolean;
  undo?(): Promise<unknown>;
}

const asked = signal<Asked | undefined>(undefined);
const toast = signal<Toast | undefined>(undefined);

/** Time for which a toast stays, also that of the offer to undo. */
export const TOAST_MS = 10_000;

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
  readonly class?: string;
}

/** Button that calls a tool. While it runs, it keeps its width and shows a ring; an error is shown next to it. */
export function ActionButton({ icon, small = false, only = false, class: name = '', ...action }: ButtonProps) {
  const isBusy = useSignal(false);
  const trouble = useSignal<unknown>(undefined);
  const { label, kind = 'plain', disabled = false } = action;

  async function press() {
    isBusy.value = true;
    trouble.value = undefined;
    try {
      await run(action);
    } catch (error) {
      trouble.value = error;
    } finally {
      isBusy.value = false;
    }
  }

  const look = [kind === 'plain' ? '' : kind, small && 'small', only && 'only', isBusy.value && 'busy', name];
  return (
    <>
      <button
        type="button"
        class={`b ${look.filter(Boolean).join(' ')}`}
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

/** The dialogs and the toast, once for the page. */
export function Overlay() {
  return (
    <>
      {asked.value !== undefined && <Confirm key={asked.value.title} of={asked.value} />}
      {toast.value !== undefined && <Told of={toast.value} />}
    </>
  );
}

function Confirm({ of: { title, text, keep, reason: label, go, isDangerous, settle } }: { readonly of: Asked }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const reason = useSignal('');
  const isSure = useRef(false);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      aria-label={title}
      onClose={() => {
        asked.value = undefined;
        settle(isSure.current ? { reason: reason.value.trim() } : undefined);
      }}>
      <form method="dialog" class="stack">
        <h2>
          <UserText text={title} />
        </h2>
        <p class="soft">
          <UserText text={text} />
        </p>
        {label !== undefined && (
          <label class="field">
            <span class="label">{label}</span>
            <input class="input" value={reason.value} onInput={(event) => (reason.value = event.currentTarget.value)} />
          </label>
        )}
        <p class="acts end">
          <button type="submit" class="b">
            {keep}
          </button>
          <button
            type="submit"
            class={`b ${isDangerous ? 'danger' : 'primary'}`}
            onClick={() => (isSure.current = true)}>
            {go}
          </button>
        </p>
      </form>
    </dialog>
  );
}

function Told({ of }: { readonly of: Toast }) {
  const { text, isError, undo } = of;
  useEffect(() => {
    const timer = setTimeout(() => {
      if (toast.peek() === of) toast.value = undefined;
    }, TOAST_MS);
    return () => clearTimeout(timer);
  }, [of]);
  return (
    <div class={`toast ${isError ? 'bad' : ''}`} role={isError ? 'alert' : 'status'}>
      <span>
        <UserText text={text} />
      </span>
      {undo !== undefined && (
        <button
          type="button"
          class="b small quiet"
          disabled={isOffline.value}
          onClick={() => {
            toast.value = undefined;
            void undo().catch(tellError);
          }}>
          <Icon of="undo" small />
          {common.undo}
        </button>
      )}
      <button
        type="button"
        class="b small quiet only"
        aria-label={common.close}
        onClick={() => (toast.value = undefined)}>
        <Icon of="cross" small />
      </button>
    </div>
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
