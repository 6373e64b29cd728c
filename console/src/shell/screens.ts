/** Where one can go. */

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
