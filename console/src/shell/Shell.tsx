/** Frame around every screen: navigation, workspace choice and connection state. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { type PersonRights, personDocument } from '../live/documents.ts';
import { useLive } from '../live/live.ts';
import { person as personQuery } from '../live/queries.ts';
import { document, followConnection, isConnected } from '../live/sources.ts';
import { Boundary } from '../parts/Boundary.tsx';
import { lazy } from '../parts/lazy.tsx';
import { Absent } from '../parts/Notice.tsx';
import { UserText } from '../parts/UserText.tsx';
import { addressOf, place, workspace } from '../router.ts';
import { NeedsYou } from '../screens/needsYou/NeedsYou.tsx';
import { leave, type Person } from '../session/session.ts';
import { followKeys } from './keys.ts';
import { memberships, useMemberships } from './memberships.ts';
import { NoRole } from './NoRole.tsx';
import { PAGES, SCREENS } from './screens.ts';
import { useRights } from './useRights.ts';
import { useTitle } from './useTitle.ts';
import { useWorkspaceWithRole } from './useWorkspaceWithRole.ts';
import { WorkspaceChoice } from './WorkspaceChoice.tsx';

const Palette = lazy(async () => (await import('./Palette.tsx')).Palette);
const Tasks = lazy(async () => (await import('../screens/tasks/Tasks.tsx')).Tasks);
const TaskPage = lazy(async () => (await import('../screens/task/TaskPage.tsx')).TaskPage);
const Todos = lazy(async () => (await import('../screens/todos/Todos.tsx')).Todos);
const TodoPage = lazy(async () => (await import('../screens/todo/TodoPage.tsx')).TodoPage);
const Runs = lazy(async () => (await import('../screens/runs/Runs.tsx')).Runs);
const RunPage = lazy(async () => (await import('../screens/run/RunPage.tsx')).RunPage);
const Agents = lazy(async () => (await import('../screens/agents/Agents.tsx')).Agents);
const AgentPage = lazy(async () => (await import('../screens/agent/AgentPage.tsx')).AgentPage);
const Preferences = lazy(async () => (await import('../screens/preferences/Preferences.tsx')).Preferences);
const Access = lazy(async () => (await import('../screens/access/Access.tsx')).Access);
const Metrics = lazy(async () => (await import('../screens/metrics/Metrics.tsx')).Metrics);
const Audit = lazy(async () => (await import('../screens/audit/Audit.tsx')).Audit);

export function Shell({ person }: { readonly person: Person }) {
  const rights = useLive(document(personQuery(person.uid), personDocument));
  const isFinding = useSignal(false);
  useEffect(() => {
    void followConnection();
  }, []);
  useRights('value' in rights ? (rights.value ?? {}) : undefined);
  useEffect(
    () =>
      followKeys(() => {
        isFinding.value = true;
      }),
    [isFinding],
  );

  useMemberships();
  useWorkspaceWithRole();
  useTitle();

  const stored = 'value' in rights ? rights.value : undefined;
  const memberOf = Object.keys(stored?.workspaces ?? {});
  const hasRole = hasAnyRole(stored, memberships.value);
  const [first = ''] = place.value;

  return (
    <>
      <a class="skip" href="#main">
        To the content
      </a>
      <header>
        <a class="brand" href={addressOf([])}>
          Muster
        </a>
        <nav aria-label="Screens">
          {(hasRole ? SCREENS : []).map(({ path, title }) => (
            <a
              key={path}
              href={addressOf(path === '' ? [] : [path])}
              aria-current={path === first ? 'page' : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
        {hasRole && (
          <button
            type="button"
            class="find"
            aria-keyshortcuts="Control+K Meta+K"
            onClick={() => {
              isFinding.value = true;
            }}
          >
            Find
          </button>
        )}
        {hasRole && <WorkspaceChoice memberOf={memberOf} />}
        <p class={isConnected.value ? 'connection' : 'connection away'} role="status">
          {isConnected.value ? 'live' : 'reconnecting'}
        </p>
        <details class="person">
          <summary>
            <UserText text={person.name} />
          </summary>
          <p>
            <UserText text={person.email} />
          </p>
          <button type="button" onClick={() => void leave()}>
            Sign out
          </button>
        </details>
      </header>
      <main id="main" tabIndex={-1}>
        <Boundary key={place.value.join('/')}>
          {hasRole ? <CurrentScreen person={person} /> : <WithoutRole person={person} />}
        </Boundary>
      </main>
      {hasRole && isFinding.value && (
        <Palette
          person={person}
          close={() => {
            isFinding.value = false;
          }}
        />
      )}
    </>
  );
}

/** Returns whether the person has a role. If the server is unreachable, the databases decide what is shown. */
function hasAnyRole(stored: PersonRights | undefined, known: typeof memberships.value): boolean {
  const { role = 'none', workspaces = {} } = stored ?? {};
  if (role !== 'none' || Object.keys(workspaces).length > 0) return true;
  return known === 'failed' || (known !== undefined && known.own.length > 0);
}

/** Screens start listening only after pending invitations are accepted. */
function WithoutRole({ person }: { readonly person: Person }) {
  return memberships.value === undefined ? <Absent live={{ state: 'loading' }} /> : <NoRole person={person} />;
}

/** Routes. A screen restarts when the workspace changes. */
const LIST_PAGES: Readonly<Record<string, (person: Person, here: string) => ComponentChildren>> = {
  '': (person, here) => <NeedsYou key={here} person={person} />,
  tasks: (person, here) => <Tasks key={here} person={person} />,
  todos: (person) => <Todos person={person} />,
  runs: (person, here) => <Runs key={here} person={person} />,
  agents: (_person, here) => <Agents key={here} />,
  access: (_person, here) => <Access key={here} />,
  audit: (_person, here) => <Audit key={here} />,
  metrics: () => <Metrics />,
  preferences: (person) => <Preferences person={person} />,
};

const DETAIL_PAGES: Readonly<Record<string, (id: string) => ComponentChildren>> = {
  [PAGES.task]: (id) => <TaskPage key={id} id={id} />,
  [PAGES.todo]: (id) => <TodoPage key={id} id={id} />,
  [PAGES.run]: (id) => <RunPage key={id} id={id} />,
  [PAGES.agent]: (id) => <AgentPage key={id} id={id} />,
};

function CurrentScreen({ person }: { readonly person: Person }) {
  const [kind = '', id, ...more] = place.value;
  const here = workspace.value;
  const screen = more.length > 0 ? undefined : id === undefined ? LIST_PAGES[kind] : undefined;
  if (screen !== undefined) return screen(person, here);
  const page = more.length > 0 || id === undefined ? undefined : DETAIL_PAGES[kind];
  if (page !== undefined && id !== undefined) return page(id);
  return (
    <>
      <h1>Page not found</h1>
      <p>
        <a href={addressOf([])}>What needs you</a> is where to begin.
      </p>
    </>
  );
}
