/** Navigation: a sidebar on wide windows; a bar above and tabs below on narrow ones. */
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { shell } from '../../text/shell.ts';
import { Avatar } from '../../ui/Avatar.tsx';
import { number } from '../../ui/format.ts';
import { Icon } from '../../ui/Icon.tsx';
import { Entry, Menu } from '../../ui/Menu.tsx';
import { connectionState } from '../live/sources.ts';
import { addressOf, place } from '../router.ts';
import type { Person } from '../session/session.ts';
import { Bell } from './Bell.tsx';
import { signOut } from './notifications.ts';
import { LISTS, pathOf, SCREENS, type Screen } from './screens.ts';
import { nextTheme, theme } from './theme.ts';
import type { Waiting } from './useWaiting.ts';
import { WorkspaceSwitch } from './WorkspaceSwitch.tsx';

export interface NavigationProps {
  readonly person: Person;
  /** Name of the person's role in the workspace. */
  readonly role: string | undefined;
  readonly waiting: Waiting;
  /** Numbers at the screens, by path. */
  readonly counts: Readonly<Record<string, number | undefined>>;
  find(): void;
}

const MODIFIER = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl ';

export function Sidebar({ person, role, waiting, counts, find }: NavigationProps) {
  return (
    <aside class="side" aria-label={shell.sidebar}>
      <div class="first">
        <WorkspaceSwitch />
        <Bell waiting={waiting} />
      </div>
      <button type="button" class="find" aria-keyshortcuts="Control+K Meta+K" onClick={find}>
        <Icon of="search" />
        {shell.search}
        <kbd>{`${MODIFIER}K`}</kbd>
      </button>
      <nav aria-label={shell.main}>
        {SCREENS.filter(({ group }) => group === 'work').map((screen) => (
          <ScreenLink key={screen.path} screen={screen} count={counts[screen.path]} />
        ))}
        <h2>{shell.workspaceGroup}</h2>
        {SCREENS.filter(({ group }) => group === 'workspace').map((screen) => (
          <ScreenLink key={screen.path} screen={screen} count={counts[screen.path]} />
        ))}
      </nav>
      <div class="foot">
        <LiveStatus />
        <Menu
          class="start up me"
          button=""
          summary={
            <>
              <Avatar name={person.name} id={person.uid} isPerson large />
              <span>
                <b>{person.name}</b>
                {role !== undefined && <small>{role}</small>}
              </span>
              <Icon of="more" class="push" />
            </>
          }>
          {SCREENS.filter(({ group }) => group === 'own').map((screen) => (
            <Entry key={screen.path} icon={screen.icon} label={screen.title} href={addressOf(pathOf(screen))} />
          ))}
          <Entry icon="sun" label={shell.theme} hint={shell.themes[theme.value]} choose={nextTheme} />
          <hr />
          <Entry icon="leave" label={shell.signOut} choose={() => void signOut()} />
        </Menu>
      </div>
    </aside>
  );
}

/** The bar above, on narrow windows. */
export function TopBar({ waiting, find }: Pick<NavigationProps, 'waiting' | 'find'>) {
  return (
    <header class="top">
      <WorkspaceSwitch />
      <LiveStatus />
      <Bell waiting={waiting} />
      <button type="button" class="b quiet only" aria-label={shell.search} onClick={find}>
        <Icon of="search" />
      </button>
    </header>
  );
}

/** The tabs below, on narrow windows. The other screens are in a sheet. */
export function Tabs({ person, counts }: Pick<NavigationProps, 'person' | 'counts'>) {
  const sheet = useRef<HTMLDivElement>(null);
  const close = () => sheet.current?.hidePopover();
  return (
    <>
      <nav class="tabs" aria-label={shell.main}>
        {SCREENS.filter(({ isTab }) => isTab).map((screen) => (
          <ScreenLink key={screen.path} screen={screen} count={screen.path === '' ? counts[''] : undefined} />
        ))}
        <button type="button" popoverTarget="more-screens">
          <Icon of="more" />
          {shell.more}
        </button>
      </nav>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: its entries are buttons and links, which have keys. */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the same. */}
      <div id="more-screens" class="sheet" popover="auto" ref={sheet} onClick={close}>
        {SCREENS.filter(({ isTab }) => !isTab).map((screen) => (
          <Entry key={screen.path} icon={screen.icon} label={screen.title} href={addressOf(pathOf(screen))} />
        ))}
        <Entry icon="sun" label={shell.theme} hint={shell.themes[theme.value]} choose={nextTheme} />
        <Entry icon="leave" label={shell.signOut} hint={person.name} choose={() => void signOut()} />
      </div>
    </>
  );
}

function ScreenLink({
  screen,
  count,
}: {
  readonly screen: Screen;
  readonly count: number | undefined;
}): ComponentChildren {
  const [first = ''] = place.value;
  const isHere = (LISTS[first] ?? first) === screen.path;
  return (
    <a href={addressOf(pathOf(screen))} aria-current={isHere ? 'page' : undefined}>
      <Icon of={screen.icon} />
      {screen.title}
      {!!count && <span class={screen.path === '' ? 'count hot' : 'count'}>{number(count)}</span>}
    </a>
  );
}

function LiveStatus() {
  const state = connectionState.value;
  return (
    <p class={state === 'live' ? 'live' : 'live off'} role="status">
      {shell[state]}
    </p>
  );
}
