/** Pages of the console: screens in the navigation, and pages of single items. */
import { shell } from '../../text/shell.ts';
import type { IconName } from '../../ui/icons.ts';

export interface Screen {
  readonly path: string;
  readonly title: string;
  readonly icon: IconName;
  /** Key of the shortcut, which is pressed after g. */
  readonly key: string;
  /** `work` is at the top of the sidebar, `workspace` below it, `own` in the person's menu. */
  readonly group: 'work' | 'workspace' | 'own';
  /** Whether the screen is among the tabs on phones. */
  readonly isTab?: true;
}

export const SCREENS: readonly Screen[] = [
  { path: '', title: shell.needsYou, icon: 'inbox', key: 'n', group: 'work', isTab: true },
  { path: 'tasks', title: shell.tasks, icon: 'tasks', key: 't', group: 'work', isTab: true },
  { path: 'todos', title: shell.todos, icon: 'todo', key: 'd', group: 'work', isTab: true },
  { path: 'runs', title: shell.runs, icon: 'run', key: 'r', group: 'work' },
  { path: 'agents', title: shell.agents, icon: 'agent', key: 'a', group: 'work', isTab: true },
  { path: 'access', title: shell.access, icon: 'people', key: 'c', group: 'workspace' },
  { path: 'audit', title: shell.audit, icon: 'audit', key: 'u', group: 'workspace' },
  { path: 'metrics', title: shell.metrics, icon: 'metrics', key: 'm', group: 'workspace' },
  { path: 'preferences', title: shell.preferences, icon: 'settings', key: 'p', group: 'own' },
];

export const pathOf = ({ path }: Screen): readonly string[] => (path === '' ? [] : [path]);

/** First path segment of an item's page; the item's id follows. Emails and push messages link to these pages. */
export const PAGES = { task: 't', todo: 'd', run: 'r', agent: 'a' } as const;

/** Path of the list that contains the items of a page, which is marked in the navigation. */
export const LISTS: Readonly<Record<string, string>> = { t: 'tasks', d: 'todos', r: 'runs', a: 'agents' };

/** Parameter of the first page: the id of a question to show. Links in emails and push messages set the parameter. */
export const SHOWN_QUESTION = 'request';
