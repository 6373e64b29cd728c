/** Confirmation before an action, and the toast with its outcome. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { common } from '../../text/common.ts';
import { Icon } from '../../ui/Icon.tsx';
import { UserText } from '../../ui/UserText.tsx';
import { isOffline } from '../live/sources.ts';
import { type Asked, asked, type Toast, tellError, toast } from './acting.tsx';
import { Dialog } from './Dialog.tsx';
import { TextField } from './TextField.tsx';

/** Time for which a toast stays, also that of the offer to undo. */
export const TOAST_MS = 10_000;

/** The dialogs and the toast, once for the page. */
export function Overlay() {
  return (
    <>
      {asked.value !== undefined && <Confirm key={asked.value.title} of={asked.value} />}
      {toast.value !== undefined && <Told of={toast.value} />}
    </>
  );
}

function Confirm({ of }: { readonly of: Asked }) {
  const { title, text, keep, reason: label, isReasonRequired = false, go, isDangerous, settle } = of;
  const reason = useSignal('');
  const isSure = useRef(false);
  return (
    <Dialog
      title={title}
      keep={keep}
      action={{
        label: go,
        kind: isDangerous ? 'danger' : 'primary',
        disabled: isReasonRequired && reason.value.trim() === '',
        act: async () => (isSure.current = true),
      }}
      closed={() => {
        asked.value = undefined;
        settle(isSure.current ? { reason: reason.value.trim() } : undefined);
      }}>
      <p class="soft">
        <UserText text={text} />
      </p>
      {label !== undefined && <TextField label={label} of={reason} isLong={isReasonRequired} />}
    </Dialog>
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
