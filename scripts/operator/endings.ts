import type { Ended } from '../../functions/src/access/rules/revocation.ts';

/** Returns one sentence for each kind of item that was revoked or cancelled together with an agent. */
export function endedLines({ agents, invitations, requests }: Omit<Ended, 'credentials'>): readonly string[] {
  const sent = invitations.map(({ workspace, email }) => `${email} to ${workspace}`);
  return [
    ...lineOf(
      'Revoked agents that this agent registered',
      agents.map(({ id }) => id),
    ),
    ...lineOf('Withdrawn invitations', sent),
    ...lineOf('Cancelled calls that waited for approval', requests),
  ];
}

function lineOf(what: string, names: readonly string[]): readonly string[] {
  return names.length === 0 ? [] : [`${what}: ${names.join(', ')}.`];
}
