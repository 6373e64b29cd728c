/** Menu of the workspaces in which the person has a role, and of those that they administer. */
import { shell } from '../../text/shell.ts';
import { Avatar } from '../../ui/Avatar.tsx';
import { Icon } from '../../ui/Icon.tsx';
import { Mark } from '../../ui/Mark.tsx';
import { Entry, Menu } from '../../ui/Menu.tsx';
import { addressOf, DEFAULT_WORKSPACE, inWorkspace, workspace } from '../router.ts';
import { isMakingWorkspace } from './makingWorkspace.ts';
import { memberships, type Workspaces } from './memberships.ts';

export function WorkspaceSwitch() {
  const known = memberships.value;
  const here = workspace.value;
  const { own, administered, truncated }: Pick<Workspaces, 'own' | 'administered' | 'truncated'> =
    typeof known === 'object' ? known : { own: [DEFAULT_WORKSPACE], administered: [], truncated: false };
  // The address may name any workspace.
  const names = own.includes(here) || administered.includes(here) ? own : [...own, here];
  return (
    <Menu
      class="start switch"
      button=""
      summary={
        <>
          <Mark />
          <span>
            <span class="away">{shell.switchWorkspace}</span>
            <b>{here}</b>
            <small>{shell.name}</small>
          </span>
          <Icon of="updown" small class="push" />
        </>
      }>
      {names.map(entryOf)}
      {administered.length > 0 && <p class="label">{shell.administered}</p>}
      {administered.map(entryOf)}
      {truncated && <p class="hint">{shell.moreWorkspaces}</p>}
      <hr />
      <Entry icon="people" label={shell.members} href={addressOf(['access'])} />
      <Entry icon="plus" label={shell.newWorkspace} choose={() => (isMakingWorkspace.value = '')} />
    </Menu>
  );
}

function entryOf(name: string) {
  const isHere = name === workspace.value;
  return (
    <a key={name} class="pick" href={inWorkspace(name)} aria-current={isHere ? 'true' : undefined}>
      <Avatar name={name} id={name} />
      {name}
      {isHere && <Icon of="check" class="push" />}
    </a>
  );
}
