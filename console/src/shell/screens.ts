/** The pages of the console: the screens that one can go to, and the pages of single things. */

interface Screen {
  readonly path: string;
  readonly title: string;
  /** The key that leads there, after a g. */
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

/** First segment of the address of a thing's page; the thing's id follows. Mails and push messages link there. */
export const PAGES = { task: 't', todo: 'd', run: 'r', agent: 'a' } as const;

/** Parameter of the first page that names a question, which is then shown. Mails and push messages set it. */
export const SHOWN_QUESTION = 'request';
