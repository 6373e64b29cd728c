/** Texts of the views in chat. */

export const views = {
  live: 'Live',
  updated: 'Updated {time}',
  refresh: 'Refresh',
  callCancelled: 'The call was cancelled.',
  notAllowed: 'This app doesn’t allow views to call Muster. Use the chat instead.',
  more: ['and {n} more', 'and {n} more'],
  host: '{text} ({host})',
} as const;

export const goalView = {
  title: 'Goal',
  none: 'No goal yet',
  noTasks: 'No tasks yet',
  ofDone: ' of {n} done',
  done: '{done} of {n} tasks done',
  agents: '{active} of {n} agents working',
  stuck: 'Can’t start',
  because: '{id} didn’t succeed',
  retry: 'Retry',
  retryOf: 'Retry {id}',
  verifying: ['{n} is being verified', '{n} are being verified'],
  late: 'Late',
  due: 'Due {time}',
} as const;

export const todosView = {
  title: 'To-dos',
  none: 'No matching to-dos',
  open: ['{n} open', '{n} open'],
  listed: 'of {n} listed',
  mark: 'Done: {title}',
  due: 'Due {time}',
  overdue: 'Overdue since {time}',
  parts: '{done} of {n} done',
} as const;

export const runView = { left: '{left} left for the {kind}', tokens: ['{n} token', '{n} tokens'] } as const;

export const codingView = {
  messageFrom: 'Message from {who}',
  title: 'Code task',
  attempt: 'Attempt {n}',
  waitingFor: 'Waiting for {who}',
  retries: 'Retries {time}',
  log: 'Log',
  lines: 'last {shown} of {n} lines',
  error: 'Error',
  commits: 'Commits',
  pullRequest: 'Pull request {n}',
  stop: 'Stop task',
  stopTitle: 'Stop this task? It counts as failed. Its branch stays.',
  keep: 'Keep task',
  round: 'Round {round} of {n}',
  sentBack: 'Sent back in round {round}',
  sendBack: 'Send it back',
  sendBackTitle: 'Send this result back? Its agent, or another one, continues.',
  sendBackWords: 'What must change',
  keepAsIs: 'Cancel',
} as const;
