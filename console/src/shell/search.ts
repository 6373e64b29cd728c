/** Results of the search: items that the page listens to, and items that the server finds by words. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { z } from 'zod/mini';
import { taskSearchWord } from '../../../functions/src/toolsets/coordination/rules/taskSearch.ts';
import { callTool } from '../calls/tools.ts';
import { useClosedTasks, useOpenTasks, useSessionId } from '../live/coordination.ts';
import { agentDocument, type Task, taskDocument } from '../live/documents.ts';
import { usePaged } from '../live/paged.ts';
import { agentsOf, runsOf, tasksWithWord } from '../live/queries.ts';
import { runDocument } from '../live/runDocument.ts';
import { rowsOf } from '../live/states.ts';
import { knownPeople } from '../parts/people.ts';
import { stateOf, titleOf } from '../parts/taskState.ts';
import { addressOf, workspace } from '../router.ts';
import type { Person } from '../session/session.ts';
import { PAGES, pathOf, SCREENS } from './screens.ts';

export interface Found {
  /** Id that finds a task, too. */
  readonly id?: string;
  readonly kind: 'page' | 'task' | 'todo' | 'run' | 'agent' | 'person';
  readonly title: string;
  readonly address: string;
  /** State of a task, to-do or run. */
  readonly state?: string;
}

/** The id of a task finds the task even if it is not listed. */
const TASK_ID = /^task-[\w-]+$/;
const TYPING_MS = 200;
const MIN_WORDS = 2;

const todos = z.object({
  tasks: z._default(z.array(z.object({ id: z.string(), title: z.string(), completed: z.boolean() })), []),
});

/** @param words what the person has typed */
export function useSearch(person: Person, words: string) {
  const here = workspace.value;
  const session = useSessionId(here);
  const where = { here, session: 'value' in session ? session.value : undefined };
  const open = useOpenTasks(where);
  const closed = [useClosedTasks(where, 'done'), useClosedTasks(where, 'failed'), useClosedTasks(where, 'cancelled')];
  const agents = usePaged(agentsOf(here), agentDocument);
  const runs = usePaged(runsOf(person.uid, here), runDocument);
  const server = useServerSearch(words);
  const word = taskSearchWord(words);
  const worded = usePaged(word === undefined ? undefined : tasksWithWord(here, word), taskDocument);
  const cut = [open, ...closed, agents, runs].map(({ more }) => more).filter((more) => more !== undefined);
  const id = words.toLowerCase();
  const all: readonly Found[] = [
    ...(TASK_ID.test(id) ? [{ kind: 'task' as const, title: id, address: addressOf([PAGES.task, id]) }] : []),
    ...SCREENS.map((screen) => ({ kind: 'page' as const, title: screen.title, address: addressOf(pathOf(screen)) })),
    ...[open, ...closed, worded].flatMap((list) => rowsOf(list).map(foundTask)),
    ...server.found,
    ...rowsOf(runs).map(({ id: run, title, status: state }) => ({
      kind: 'run' as const,
      title,
      state,
      address: addressOf([PAGES.run, run]),
    })),
    ...rowsOf(agents).map(({ id: agent, name }) => ({
      kind: 'agent' as const,
      title: name,
      address: addressOf([PAGES.agent, agent]),
    })),
    ...knownPeople().map(({ uid, name }) => ({
      kind: 'person' as const,
      title: name,
      address: addressOf(['access'], { person: uid }),
    })),
  ];
  const more = () => {
    for (const load of cut) load();
  };
  return { all, isSearching: server.isSearching, more: cut.length === 0 ? undefined : more };
}

const foundTask = (task: Task): Found => ({
  id: task.id,
  kind: 'task',
  title: titleOf(task),
  state: stateOf(task),
  address: addressOf([PAGES.task, task.id]),
});

/** Searches the person's to-dos when they stop typing. */
function useServerSearch(words: string) {
  const state = useSignal<{ readonly found: readonly Found[]; readonly isSearching: boolean }>({
    found: [],
    isSearching: false,
  });
  useEffect(() => {
    if (words.length < MIN_WORDS) {
      state.value = { found: [], isSearching: false };
      return undefined;
    }
    let isOver = false;
    state.value = { ...state.peek(), isSearching: true };
    const timer = setTimeout(() => {
      callTool('todo.search_tasks', { query: words }, todos).then(
        ({ tasks }) => {
          if (!isOver) state.value = { found: tasks.map(foundTodo), isSearching: false };
        },
        () => {
          if (!isOver) state.value = { found: [], isSearching: false };
        },
      );
    }, TYPING_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [words]);
  return state.value;
}

const foundTodo = ({ id, title, completed }: z.output<typeof todos>['tasks'][number]): Found => ({
  kind: 'todo',
  title,
  state: completed ? 'done' : 'open',
  address: addressOf([PAGES.todo, id]),
});
