/** Button that opens a dialog to invite a person. The invitation has a link to copy, as email may not arrive. */
import { useSignal } from '@preact/signals';
import { z } from 'zod/mini';
import { access as text } from '../../../text/access.ts';
import { common } from '../../../text/common.ts';
import { fill } from '../../../ui/format.ts';
import { Icon } from '../../../ui/Icon.tsx';
import { act } from '../../calls/tools.ts';
import { CopyButton } from '../../parts/Copy.tsx';
import { DialogButton } from '../../parts/DialogButton.tsx';
import { SelectField } from '../../parts/Select.tsx';
import { TextField } from '../../parts/TextField.tsx';
import { inWorkspace } from '../../router.ts';
import { ROLE_OPTIONS } from './roles.ts';

interface InviteProps {
  readonly here: string;
  changed(): void;
}

export function Invite({ here, changed }: InviteProps) {
  const email = useSignal('');
  const role = useSignal('worker');
  const sent = useSignal<string | undefined>(undefined);
  const link = `${location.origin}${inWorkspace(here)}`;
  return (
    <DialogButton
      title={text.invite}
      icon="plus"
      kind="primary"
      keep={common.close}
      staysOpen
      action={{
        label: text.send,
        disabled: !email.value.includes('@'),
        act: async () => {
          const address = email.value.trim();
          await act('access.invite', { email: address, role: role.value }, z.object({}));
          email.value = '';
          sent.value = address;
          changed();
        },
      }}
      closed={() => (sent.value = undefined)}>
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
      <TextField label={text.email} type="email" of={email} />
      <SelectField label={text.role} hint={text.roleHints[role.value]} of={role} options={ROLE_OPTIONS} />
    </DialogButton>
  );
}
