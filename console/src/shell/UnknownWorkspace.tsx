/** Says that the address names a workspace that doesn't exist, or in which the person has no role. */
import { shell } from '../../text/shell.ts';
import { fill } from '../../ui/format.ts';
import { Icon } from '../../ui/Icon.tsx';
import { workspace } from '../router.ts';
import { isMakingWorkspace } from './makingWorkspace.ts';
import { isListed, memberships } from './memberships.ts';

export function UnknownWorkspace() {
  const known = memberships.value;
  const here = workspace.value;
  if (typeof known !== 'object' || known.truncated || isListed(known, here)) return null;
  return (
    <p class="notice wait" role="status">
      <Icon of="warn" />
      <span>
        {fill(shell.unknownWorkspace, { name: here })}{' '}
        <button type="button" class="b small" onClick={() => (isMakingWorkspace.value = here)}>
          {fill(shell.makeWorkspace, { name: here })}
        </button>
      </span>
    </p>
  );
}
