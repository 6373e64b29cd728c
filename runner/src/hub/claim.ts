/** Claims tasks over a network that can lose responses. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { HubUnreachable } from './connection.ts';
import type { ClaimedTask, ClaimWishes, Hub } from './hub.ts';

export interface ClaimOptions {
  readonly retryMs: number;
  readonly shutdown: AbortSignal;
  readonly say: (message: string) => void;
}

/**
 * Waits for a task and claims it. Returns undefined if no task became available, or if the runner ends. If a response
 * is lost, the claim is repeated with the same idempotency key, which returns the task that the first call claimed.
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
      if (failures === 0) say(`The hub does not respond; retrying. ${error.message}`);
      await delay(retryMs, undefined, { signal: shutdown }).catch(() => undefined);
    }
  }
}
