/** Buttons that call tools. What destroys asks first, and says what it will do. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { Refusal } from '../calls/tools.ts';
import { Words } from './Words.tsx';

interface ActProps {
  readonly label: string;
  /** What will happen, where it is to be confirmed. */
  readonly consequence?: string;
  readonly kind?: 'primary' | 'danger' | 'plain';
  readonly disabled?: boolean;
  act(): Promise<unknown>;
}

export function Act({ label, consequence, kind = 'plain', disabled = false, act }: ActProps) {
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
      {trouble.value !== undefined && <Trouble of={trouble.value} />}
      {consequence !== undefined && (
        <dialog ref={dialog} aria-label={label}>
          <p>
            <Words text={consequence} />
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

/** Why something was refused, in the tool's own words. */
export function Trouble({ of }: { readonly of: unknown }) {
  const message = of instanceof Error ? of.message : String(of);
  return (
    <span class="trouble" role="alert">
      <Words text={message} />
      {of instanceof Refusal && of.suggestion !== undefined && (
        <>
          {' '}
          <Words text={of.suggestion} />
        </>
      )}
    </span>
  );
}
