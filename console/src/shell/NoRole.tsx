/** Page of a person with an account but without a role in any workspace. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { common } from '../../text/common.ts';
import { shell, noRole as text } from '../../text/shell.ts';
import { Fill } from '../../ui/Fill.tsx';
import { Icon } from '../../ui/Icon.tsx';
import { Mark } from '../../ui/Mark.tsx';
import { UserText } from '../../ui/UserText.tsx';
import { isAddressVerified, type Person } from '../session/session.ts';
import { refetchMemberships } from './memberships.ts';
import { signOut } from './notifications.ts';

export function NoRole({ person }: { readonly person: Person }) {
  const isVerified = useSignal(true);
  const asking = useSignal<'no' | 'yes' | 'asked'>('no');
  const look = async () => {
    isVerified.value = await isAddressVerified();
  };
  useEffect(() => void look().catch(() => undefined), []);
  const retry = async () => {
    asking.value = 'yes';
    await refetchMemberships();
    await look().catch(() => undefined);
    asking.value = 'asked';
  };
  return (
    <div class="card">
      <Mark />
      <h1>{text.title}</h1>
      <p>
        <Fill
          text={text.ask}
          with={{
            email: (
              <strong>
                <UserText text={person.email} />
              </strong>
            ),
          }}
        />
      </p>
      {!isVerified.value && (
        <p class="notice wait">
          <Icon of="warn" />
          <span>{text.unverified}</span>
        </p>
      )}
      <p class="hint">{text.checks}</p>
      <p class="acts">
        <button type="button" class="b primary" disabled={asking.value === 'yes'} onClick={() => void retry()}>
          {common.tryAgain}
        </button>
        <button type="button" class="b" onClick={() => void signOut()}>
          {shell.signOut}
        </button>
      </p>
      <p role="status">{asking.value === 'asked' && text.still}</p>
    </div>
  );
}
