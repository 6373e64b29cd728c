/** Button that opens a dialog to invite a person. The invitation has a link to copy, as email may not arrive. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { z } from 'zod/mini';
import { access as text } from '../../../text/access.ts';
import { common, roles } from '../../../text/common.ts';
import { fill } from '../../../ui/format.ts';
import { Icon } from '../../../ui/Icon.tsx';
import { act } from '../../calls/tools.ts';
import { ActionButton } from '../../parts/acting.tsx';
import { CopyButton } from '../../parts/Copy.tsx';
import { Field } from '../../parts/Field.tsx';
import { inWorkspace } from '../../router.ts';
import { ROLES } from './roles.ts';

interface InviteProps {
  readonly here: string;
  changed(): void;
}

export function Invite({ here, changed }: InviteProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const email = useSignal('');
  const role = useSignal<string>('worker');
  const sent = useSignal<string | undefined>(undefined);
  const link = `${location.origin}${inWorkspace(here)}`;
  return (
    <>
      <button type="button" class="b primary" onClick={() => dialog.current?.showModal()}>
        <Icon of="plus" />
        {text.invite}
      </button>
      <dialog ref={dialog} class="dialog" aria-label={text.invite} onClose={() => (sent.value = undefined)}>
        <form class="stack" onSubmit={(event) => event.preventDefault()}>
          <h2>{text.invite}</h2>
          {sent.value !== undefined && (
            <div class="notice" role="status">
              <Icon of="check" />
              <div class="stack">
                <p>{fill(text.sent, { email: sent.value })}</p>
                <p class="line">
                  <code>{link}</code>
                  <CopyButton text={link} what={text.link} />
                </p>
              </div>
            </div>
          )}
          <Field label={text.email}>
            {(field) => (
              <input
                {...field}
                type="email"
                value={email.value}
                autocomplete="off"
                onInput={(event) => (email.value = event.currentTarget.value)}
              />
            )}
          </Field>
          <Field label={text.role} hint={text.roleHints[role.value]}>
            {(field) => (
              <select {...field} value={role.value} onChange={(event) => (role.value = event.currentTarget.value)}>
                {ROLES.map((one) => (
                  <option key={one} value={one}>
                    {roles[one]}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <p class="acts end">
            <button type="button" class="b" onClick={() => dialog.current?.close()}>
              {common.close}
            </button>
            <ActionButton
              kind="primary"
              label={text.send}
              disabled={!email.value.includes('@')}
              act={async () => {
                const address = email.value.trim();
                await act('access.invite', { email: address, role: role.value }, z.object({}));
                email.value = '';
                sent.value = address;
                changed();
              }}
            />
          </p>
        </form>
      </dialog>
    </>
  );
}
