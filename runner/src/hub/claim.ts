/** Claims a task, through a network that may lose the answer. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { HubUnreachable } from './connection.ts';
import type { ClaimedTask, ClaimWishes, Hub } from './hub.ts';

export interface ClaimOptions {
  /** Before the hub is asked again that has not answered, in milliseconds. */
  readonly retryMs: number;
  readonly shutdown: AbortSignal;
  readonly say: (message: string) => void;
}

/**
 * Waits for a task; undefined where none came, or the runner is to end. The hub may have claimed one of which we have
 * not heard: it is asked again with the same key, and then answers with that one and claims no other.
 */
export async function claimTask(
  hub: Pick<Hub, 'claim'>,
  wishes: ClaimWishes,
  { retryMs, shutdown, say }: ClaimOptions,
): Promise<ClaimedTask | undefined> {
  const key = randomUUID();
  for (let failures = 0; ; failures++) {
    try {
      return await hub.claim(wishes, key, shutdown);
    } catch (error) {
      if (shutdown.aborted) return undefined;
      if (!(error instanceof HubUnreachable)) throw error;
      if (failures === 0) say(`The hub does not answer; asking again. ${error.message}`);
      await delay(retryMs, undefined, { signal: shutdown }).catch(() => undefined);
    }
  }
}
