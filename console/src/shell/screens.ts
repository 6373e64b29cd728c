/** Pages of the console: screens in the navigation, and pages of single items. */

interface Screen {
  readonly path: string;
  readonly title: string;
  /** Key of the shortcut, which is pressed after g. */
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

/** First path segment of an item's page; the item's id follows. Emails and push messages link to these pages. */
export const PAGES = { task: 't', todo: 'd', run: 'r', agent: 'a' } as const;

/** Parameter of the first page: the id of a question to show. Links in emails and push messages set the parameter. */
export const SHOWN_QUESTION = 'request';
