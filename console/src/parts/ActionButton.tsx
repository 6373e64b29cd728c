/** Buttons that call tools. Before a destructive action, they describe its consequence and ask for confirmation. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { ToolError } from '../calls/tools.ts';
import { UserText } from './UserText.tsx';

interface ActionButtonProps {
  readonly label: string;
  /** Consequence that the confirmation describes; absent if the action needs no confirmation. */
  readonly consequence?: string;
  readonly kind?: 'primary' | 'danger' | 'plain';
  readonly disabled?: boolean;
  act(): Promise<unknown>;
}

export function ActionButton({ label, consequence, kind = 'plain', disabled = false, act }: ActionButtonProps) {
  const state = useSignal<'idle' | 'asked' | 'done'>('idle');
  const trouble = useSignal<unknown>(undefined);
  const dialog = useRef<HTMLDialogElement>(null);

  async function run() {
    state.value = 'asked';
    trouble.value = undefined;
    try {
      await act();
      state.value = 'done';
    } catch (error) {
      trouble.value = error;
      state.value = 'idle';
    }
  }

  return (
    <span class="act">
      <button
        type="button"
        class={kind}
        disabled={disabled || state.value === 'asked'}
        onClick={() => (consequence === undefined ? run() : dialog.current?.showModal())}
      >
        {state.value === 'asked' ? `${label} …` : label}
      </button>
      {trouble.value !== undefined && <ErrorNotice of={trouble.value} />}
      {consequence !== undefined && (
        <dialog ref={dialog} aria-label={label}>
          <p>
            <UserText text={consequence} />
          </p>
          <form method="dialog">
            <button type="submit" class="plain">
              Leave it
            </button>
            <button type="submit" class={kind} onClick={run}>
              {label}
            </button>
          </form>
        </dialog>
      )}
    </span>
  );
}

/** Shows why a tool refused a call. */
export function ErrorNotice({ of }: { readonly of: unknown }) {
  const message = of instanceof Error ? of.message : String(of);
  return (
    <span class="trouble" role="alert">
      <UserText text={message} />
      {of instanceof ToolError && of.suggestion !== undefined && (
        <>
          {' '}
          <UserText text={of.suggestion} />
        </>
      )}
    </span>
  );
}
