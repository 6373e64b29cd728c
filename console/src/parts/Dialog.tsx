/** Modal dialog with a form. It is in the page only while it is open. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { common } from '../../text/common.ts';
import { UserText } from '../../ui/UserText.tsx';
import { type Action, ActionButton } from './acting.tsx';

export interface DialogContent {
  /** Accessible name. */
  readonly title: string;
  /** Visible heading, by default the title. */
  readonly heading?: string;
  /** Label of the button that changes nothing. */
  readonly keep?: string;
  /** Action of the form. The dialog closes after it, unless `staysOpen` is set. */
  readonly action?: Action;
  readonly staysOpen?: boolean;
  readonly children?: ComponentChildren;
}

/** Dialog that opens when it is rendered. */
export function Dialog({
  title,
  heading = title,
  keep = common.cancel,
  action,
  staysOpen = false,
  children,
  closed,
}: DialogContent & { closed(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const close = () => dialog.current?.close();
  return (
    <dialog ref={dialog} aria-label={title} onClose={closed}>
      <form class="stack" noValidate onSubmit={(event) => event.preventDefault()}>
        <h2>
          <UserText text={heading} />
        </h2>
        {children}
        <p class="acts end">
          <button type="button" class="b" onClick={close}>
            {keep}
          </button>
          {action !== undefined && (
            <ActionButton
              kind="primary"
              isDefault={action.kind !== 'danger'}
              {...action}
              act={async (reason) => {
                await action.act(reason);
                if (!staysOpen) close();
              }}
            />
          )}
        </p>
      </form>
    </dialog>
  );
}
