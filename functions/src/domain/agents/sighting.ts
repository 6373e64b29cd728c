import type { Log, Presence } from '../ports.ts';

/** Notes that an agent was seen. Presence that cannot be reached is logged and stops nobody. Tells whether it was noted. */
export async function noteSeen(presence: Presence, log: Log, agentId: string): Promise<boolean> {
  try {
    await presence.touch(agentId);
    return true;
  } catch (error) {
    log.warn('presence_not_noted', { agentId, error });
    return false;
  }
}
