/** What the commands that revoke agents report. */
import type { Ended } from '../../functions/src/access/rules/revocation.ts';

/** Returns a sentence for each kind of what ended with an agent. */
export function endedLines({ agents, invitations, requests }: Omit<Ended, 'credentials'>): readonly string[] {
  const sent = invitations.map(({ workspace, email }) => `${email} to ${workspace}`);
  return [
    ...lineOf(
      'Agents that were registered through it, and are shut out too',
      agents.map(({ id }) => id),
    ),
    ...lineOf('Invitations that ended', sent),
    ...lineOf('Calls that waited for approval and ended', requests),
  ];
}

function lineOf(what: string, names: readonly string[]): readonly string[] {
  return names.length === 0 ? [] : [`${what}: ${names.join(', ')}.`];
}
