/** Frame around every screen: navigation, search, workspace and connection. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { roles } from '../../text/common.ts';
import { shell } from '../../text/shell.ts';
import { countIn, useCounts, useSession, useSessionId } from '../live/coordination.ts';
import { type PersonRights, personDocument } from '../live/documents.ts';
import { useLive } from '../live/live.ts';
import { OPEN_STATUSES, person as personQuery } from '../live/queries.ts';
import { connectionState, document, followConnection, lostAt } from '../live/sources.ts';
import { Boundary } from '../parts/Boundary.tsx';
import { addressee, askedWhy } from '../parts/dialogs.ts';
import { lazy } from '../parts/lazy.tsx';
import { Absent, Empty, StaleNotice } from '../parts/Notice.tsx';
import { Overlay } from '../parts/Overlay.tsx';
import { Page } from '../parts/Page.tsx';
import { addressOf, place, workspace } from '../router.ts';
import { NeedsYou } from '../screens/needsYou/NeedsYou.tsx';
import type { Person } from '../session/session.ts';
import { followKeys } from './keys.ts';
import { isMakingWorkspace } from './makingWorkspace.ts';
import { memberships, useMemberships } from './memberships.ts';
import { Sidebar, Tabs, TopBar } from './Navigation.tsx';
import { useNotifications } from './notifications.ts';
import { role } from './role.ts';
import { PAGES } from './screens.ts';
import { UnknownWorkspace } from './UnknownWorkspace.tsx';
import { useRights } from './useRights.ts';
import { useWaiting, type Waiting } from './useWaiting.ts';
import { useWorkspaceWithRole } from './useWorkspaceWithRole.ts';

const Palette = lazy(async () => (await import('./Palette.tsx')).Palette);
const NewWorkspace = lazy(async () => (await import('./NewWorkspaceDialog.tsx')).NewWorkspaceDialog);
const NoRole = lazy(async () => (await import('./NoRole.tsx')).NoRole);
const MessageDialog = lazy(async () => (await import('../parts/MessageDialog.tsx')).MessageDialog);
const WhyDialog = lazy(async () => (await import('../parts/WhyDialog.tsx')).WhyDialog);
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
  useEffect(() => void followConnection(), []);
  useRights('value' in rights ? (rights.value ?? {}) : undefined);
  useMemberships();
  useWorkspaceWithRole();
  useFocus();
  const stored = 'value' in rights ? rights.value : undefined;
  return (
    <>
      <FirstQueries />
      {hasAnyRole(stored, memberships.value) ? (
        <Framed person={person} />
      ) : (
        <main id="main" class="door" tabIndex={-1}>
          {memberships.value === undefined ? <Absent live={{ state: 'loading' }} /> : <NoRole person={person} />}
        </main>
      )}
    </>
  );
}

/** Storage key of the last visited workspace and its session. */
const VISITED_KEY = 'muster.visited';

/**
 * Starts the queries for the goal before all others. They wait neither for the person's rights nor, if the workspace
 * still has the session of the last visit, for the workspace.
 */
function FirstQueries(): null {
  const here = workspace.value;
  const session = useSessionId(here);
  const known = 'value' in session ? (session.value ?? '') : undefined;
  const [visited, last] = useMemo(() => localStorage.getItem(VISITED_KEY)?.split(' ') ?? [], [here]);
  const where = { here, session: (known ?? (visited === here ? last : undefined)) || undefined };
  useSession(where);
  useCounts(where);
  useEffect(() => {
    if (known !== undefined) localStorage.setItem(VISITED_KEY, `${here} ${known}`);
  }, [here, known]);
  return null;
}

/** Other screens start listening only after pending invitations are accepted. */
function Framed({ person }: { readonly person: Person }) {
  const isFinding = useSignal(false);
  const find = () => (isFinding.value = true);
  useEffect(() => followKeys(find), []);
  const here = workspace.value;
  const waiting = useWaiting(person.uid, here);
  const counts = useScreenCounts(here, waiting);
  const { live } = waiting.requests;
  useNotifications('value' in live ? live.value.rows : undefined);
  const navigation = { person, role: role.value && roles[role.value], waiting, counts, find };
  return (
    <div class="app">
      <a class="skip" href="#main">
        {shell.skip}
      </a>
      <Sidebar {...navigation} />
      <TopBar waiting={waiting} find={find} />
      <main id="main" tabIndex={-1}>
        {connectionState.value !== 'live' && lostAt.value !== undefined && (
          <StaleNotice asOf={new Date(lostAt.value)} />
        )}
        <UnknownWorkspace />
        <Boundary key={place.value.join('/')}>
          <CurrentScreen person={person} waiting={waiting} />
        </Boundary>
      </main>
      <Tabs person={person} counts={counts} />
      {isFinding.value && <Palette person={person} close={() => (isFinding.value = false)} />}
      {isMakingWorkspace.value !== undefined && <NewWorkspace />}
      {addressee.value !== undefined && <MessageDialog />}
      {askedWhy.value !== undefined && <WhyDialog />}
      <Overlay />
    </div>
  );
}

/** Numbers at the screens of the navigation, by path. */
function useScreenCounts(here: string, { count, due }: Waiting) {
  const session = useSessionId(here);
  const open = countIn(useCounts({ here, session: 'value' in session ? session.value : undefined }), OPEN_STATUSES);
  return { '': count, tasks: open, todos: due.count };
}

/** Moves the focus to the content when another page opens, so that screen readers read it. */
function useFocus(): void {
  const address = place.value.join('/');
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) globalThis.document.getElementById('main')?.focus({ preventScroll: true });
    isFirst.current = false;
  }, [address]);
}

/** Returns whether the person has a role. If the server is unreachable, the databases decide what is shown. */
function hasAnyRole(stored: PersonRights | undefined, known: typeof memberships.value): boolean {
  const { role: deployment = 'none', workspaces = {} } = stored ?? {};
  if (deployment !== 'none' || Object.keys(workspaces).length > 0) return true;
  return known === 'failed' || (known !== undefined && known.own.length > 0);
}

interface ScreenProps {
  readonly person: Person;
  readonly waiting: Waiting;
}

/** Routes. A screen restarts when the workspace changes. */
const LIST_PAGES: Readonly<Record<string, (props: ScreenProps, here: string) => ComponentChildren>> = {
  '': (props, here) => <NeedsYou key={here} {...props} />,
  tasks: ({ person }, here) => <Tasks key={here} person={person} />,
  todos: ({ person }) => <Todos person={person} />,
  runs: ({ person }, here) => <Runs key={here} person={person} />,
  agents: (_props, here) => <Agents key={here} />,
  access: ({ person }, here) => <Access key={here} person={person} />,
  audit: (_props, here) => <Audit key={here} />,
  metrics: () => <Metrics />,
  preferences: ({ person }) => <Preferences person={person} />,
};

const DETAIL_PAGES: Readonly<Record<string, (id: string) => ComponentChildren>> = {
  [PAGES.task]: (id) => <TaskPage key={id} id={id} />,
  [PAGES.todo]: (id) => <TodoPage key={id} id={id} />,
  [PAGES.run]: (id) => <RunPage key={id} id={id} />,
  [PAGES.agent]: (id) => <AgentPage key={id} id={id} />,
};

function CurrentScreen(props: ScreenProps) {
  const [kind = '', id, ...more] = place.value;
  const isList = more.length === 0 && id === undefined;
  const screen = isList ? LIST_PAGES[kind] : undefined;
  if (screen !== undefined) return screen(props, workspace.value);
  const page = more.length === 0 ? DETAIL_PAGES[kind] : undefined;
  if (page !== undefined && id !== undefined) return page(id);
  return (
    <Page title={shell.notFound}>
      <Empty icon="search" title={shell.notFound}>
        <a class="b" href={addressOf([])}>
          {shell.toNeedsYou}
        </a>
      </Empty>
    </Page>
  );
}
