/** Pages of the console: screens in the navigation, and pages of single items. */

interface Screen {
  readonly path: string;
  readonly title: string;
  /** Shortcut key, after a g. */
  readonly key: string;
}

export const SCREENS: readonly Screen[] = [
  { path: '', title: 'Needs you', key: 'n' },
  { path: 'tasks', title: 'Tasks', key: 't' },
  { path: 'todos', title: 'To-dos', key: 'd' },
  { path: 'runs', title: 'Runs', key: 'r' },
  { path: 'agents', title: 'Agents', key: 'a' },
  { path: 'access', title: 'Access', key: 'c' },
  { path: 'audit', title: 'Audit', key: 'u' },
  { path: 'metrics', title: 'Metrics', key: 'm' },
  { path: 'preferences', title: 'Preferences', key: 'p' },
];

/** First segment of the address of an item's page; the item's id follows. Emails and push messages link there. */
export const PAGES = { task: 't', todo: 'd', run: 'r', agent: 'a' } as const;

/** Parameter of the first page with the id of a question to show. Emails and push messages set it. */
export const SHOWN_QUESTION = 'request';
