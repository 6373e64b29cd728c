/** Page of a person with an account but without a role in any workspace. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { UserText } from '../parts/UserText.tsx';
import { isAddressVerified, leave, type Person } from '../session/session.ts';
import { refetchMemberships } from './memberships.ts';

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
    <>
      <h1>You have no role here yet</h1>
      <p>
        Ask a leader of a workspace to invite this address:{' '}
        <strong>
          <UserText text={person.email} />
        </strong>
        . The operator of this deployment can give you a role too.
      </p>
      {!isVerified.value && (
        <p>
          This address is not verified, so invitations to it are not accepted. Sign out, then choose “Send me a link by
          mail instead”: the link verifies the address.
        </p>
      )}
      <p class="soft">The page also checks when you come back to it.</p>
      <p>
        <button type="button" class="primary" disabled={asking.value === 'yes'} onClick={() => void retry()}>
          Try again
        </button>{' '}
        <button type="button" onClick={() => void leave()}>
          Sign out
        </button>
      </p>
      <p role="status">{asking.value === 'asked' && 'You still have no role.'}</p>
    </>
  );
}
