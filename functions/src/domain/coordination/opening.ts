import type { Randomness } from '../ports.ts';
import type { CoordinationPorts } from './ports.ts';
import type { Session } from './session.ts';

/** A session to put something into. A new one is not stored yet: the commit that fills it opens it. */
export interface SessionOpening {
  readonly session: Session;
  readonly isNew: boolean;
}

/** The workspace's open session, or a new one without a goal: tasks may come before init_coordination. */
export async function openSession(
  { sessions, randomness }: CoordinationPorts,
  workspace: string,
  now: Date,
  goal = '',
): Promise<SessionOpening> {
  const open = await sessions.current(workspace);
  if (open !== undefined) return { session: open.session, isNew: false };
  return { session: newSession(randomness, workspace, goal, '', now), isNew: true };
}

export function newSession(
  randomness: Randomness,
  workspace: string,
  goal: string,
  masterPlan: string,
  now: Date,
): Session {
  const id = `session-${randomness.letters(12)}`;
  return { id, workspace, goal, masterPlan, createdAt: now, queueVersion: 0, capabilityKeys: [] };
}
