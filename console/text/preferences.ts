/** Texts of the screen Preferences. */

export const preferences = {
  notifications: 'Notifications',
  lead: 'Remind me before a to-do is due',
  leadHint: 'In minutes, up to 4 weeks.',
  badLead: 'Enter a whole number of minutes, up to 40,320 (4 weeks).',
  push: 'Push',
  pushHint: 'On the devices on which you are signed in.',
  email: 'Email',
  emailHint: 'To {email}.',
  browser: 'This browser',
  browserHint: 'Questions and approvals, also while Muster is in another tab.',
  turnOn: 'Turn on',
  isOn: 'On',
  isBlocked: 'Blocked in the settings of this browser',
  answering: 'Agents that may answer for you',
  answeringHint: 'They can answer questions and approvals in your name, but never their own. Answers can’t be undone.',
  noAgents: 'You have no agents in this workspace.',
  elsewhere: 'Also in other workspaces: {names}',
  saved: 'Saved',
} as const;
