/** Choice of the current workspace, from those in which the person has a role and those that they administer. */
import { ask, DEFAULT_WORKSPACE, workspace } from '../router.ts';
import { isListed, memberships } from './memberships.ts';

/** @param memberOf the person's memberships, shown until all workspaces are known */
export function WorkspaceChoice({ memberOf }: { readonly memberOf: readonly string[] }) {
  const known = memberships.value;
  const here = workspace.value;
  const { own, administered, truncated } =
    typeof known === 'object'
      ? known
      : { own: [...new Set([DEFAULT_WORKSPACE, ...memberOf])].sort(), administered: [], truncated: false };
  // The address may name any workspace.
  const isOther = !isListed({ own, administered, truncated }, here);
  return (
    <label class="workspace">
      <span>Workspace</span>
      <select
        value={here}
        onChange={(event) => {
          const chosen = event.currentTarget.value;
          ask('workspace', chosen === DEFAULT_WORKSPACE ? undefined : chosen);
        }}
      >
        {(isOther ? [...own, here] : own).map(asOption)}
        {administered.length > 0 && <optgroup label="You administer">{administered.map(asOption)}</optgroup>}
        {truncated && <option disabled>More: name one in the address</option>}
      </select>
    </label>
  );
}

function asOption(name: string) {
  return (
    <option key={name} value={name}>
      {name}
    </option>
  );
}
