/**
 * Texts that several screens of the console, or the views in chat, show. `{name}` stands for a value. A pair of texts is
 * for one and for several. Rules: docs/contributing.md. All texts for people are in this folder, ready for translation. A
 * screen loads only its own.
 */

export const costs = { unknown: 'unknown cost', partlyUnknown: '{cost} + unknown cost' };

export const common = {
  loading: 'Loading…',
  reconnectingSince: 'Reconnecting. What you see is from {time}. Changes need a connection.',
  denied: 'You don’t have access to this',
  deniedHint: 'Ask a leader of the workspace.',
  failed: 'Couldn’t load {what}. {why}',
  thisPart: 'this part',
  tryAgain: 'Try again',
  notFound: '{Kind} not found',
  notFoundHint: 'It may have been deleted, or be in another workspace.',
  unreadable: [
    '{n} couldn’t be shown. It was saved by a newer version.',
    '{n} couldn’t be shown. They were saved by a newer version.',
  ],
  notAllowed: 'Not allowed.',
  unexpected: 'Muster got an unexpected answer to {method}. Reload the page to update it.',
  noAnswer: 'The server didn’t answer. Check whether the change was made before you retry.',
  formatUnknown: 'This was saved in a format that this page can’t show.',
  brokenPart: 'This part of the page couldn’t be shown.',
  partNotLoaded: 'This part of the page didn’t load. Reload the page.',
  justNow: 'just now',
  ago: '{time} ago',
  in: 'in {time}',
  left: '{time} left',
  expiredAgo: 'expired {time} ago',
  copy: 'Copy {what}',
  copied: 'Copied',
  copyLink: 'Copy link',
  moreActions: 'More actions',
  actionsFor: 'Actions for {title}',
  viewHistory: 'View history',
  showMore: 'Show more {what}',
  latestAgents: 'Only the {n} agents that were seen last',
  loadedOf: '{loaded} of {count}',
  undo: 'Undo',
  cancel: 'Cancel',
  close: 'Close',
  save: 'Save changes',
  you: 'You',
  someone: 'Someone',
  none: 'None',
  unassigned: 'Unassigned',
  properties: 'Properties',
  relations: 'Relations',
  private: 'Private',
  deleted: 'Deleted',
} as const;

export const userText = {
  moreCharacters: ['… {n} more character', '… {n} more characters'],
  invisible: 'Invisible character',
} as const;

/** Names of states, by the stored value. */
export const states: Readonly<Record<string, string>> = {
  available: 'Ready',
  blocked: 'Blocked',
  never: 'Can’t start',
  claimed: 'Claimed',
  in_progress: 'In progress',
  waiting: 'Waiting',
  verifying: 'Verifying',
  done: 'Done',
  failed: 'Failed',
  cancelled: 'Cancelled',
  pending: 'Queued',
  running: 'Running',
  succeeded: 'Succeeded',
  open: 'Open',
  overdue: 'Overdue',
  lapsed: 'Lease expired',
  red: 'Checks failed',
  budget: 'Out of budget',
};

/** Names of the steps that prove a result, by the stored value. */
export const steps: Readonly<Record<string, string>> = {
  command: 'Command',
  review: 'Review',
  person: 'Confirmation',
  waived: 'Accepted as is',
  merged: 'Merged',
};

/** Names of kinds of items, by the stored value. */
export const kinds: Readonly<Record<string, readonly [one: string, several: string]>> = {
  task: ['task', 'tasks'],
  coding_task: ['task', 'tasks'],
  todo: ['to-do', 'to-dos'],
  run: ['run', 'runs'],
  agent: ['agent', 'agents'],
  person: ['person', 'people'],
  page: ['page', 'pages'],
  workspace: ['workspace', 'workspaces'],
};

export const roles: Readonly<Record<string, string>> = {
  viewer: 'Viewer',
  worker: 'Worker',
  leader: 'Leader',
  admin: 'Admin',
};
