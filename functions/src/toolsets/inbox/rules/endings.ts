/** Withdraws the questions of people who leave a workspace. Source: docs/semantics.md#leaving-a-workspace. */
import type { LostAccess, LostAccessHandler } from '../../../access/rules/leaving.ts';
import type { WaitingCall } from '../../../access/rules/revocation.ts';
import { agentUid } from '../../../identity/rules/principal.ts';
import type { AuditEffect } from '../../../kernel/auditLog.ts';
import { retryOnConflict } from '../../../kernel/concurrency.ts';
import { cannotUndoError } from '../../../kernel/effects.ts';
import { Service, skipUnreadable } from '../../../kernel/ports.ts';
import { processAll } from '../../../kernel/sweep.ts';
import { settlement } from './answering.ts';
import type { InboxChange, InboxPorts } from './ports.ts';
import { isDue, type Request, revokedRequest, withdrawnRequest } from './request.ts';

const BATCH = 100;

export class RequestLostAccess extends Service<InboxPorts> implements LostAccessHandler {
  /** Withdraws requests that the person or their agents made or received, so that waiting agents can ask again. */
  async end(uid: string, { isOut, isRemoved }: LostAccess): Promise<number> {
    // A request serves no purpose if its asker cannot continue, or if the person who was asked has left.
    const isOver = ({ owner_uid, asked_of, workspace }: Request) =>
      (owner_uid === uid && isOut(workspace)) || (asked_of === uid && isRemoved(workspace));
    let ended = 0;
    for (const by of ['owner_uid', 'asked_of'] as const) {
      const open = (after?: string) => this.ports.requests.openBy(by, uid, BATCH, after);
      ended += await processAll(open, isOver, ({ id }) => this.withdraw(id, isOver));
    }
    return ended;
  }

  private withdraw(id: string, isOver: (request: Request) => boolean): Promise<boolean> {
    const { requests, store, clock, randomness } = this.ports;
    return retryOnConflict(randomness, async () => {
      const found = await skipUnreadable(requests.find(id));
      const now = clock.now();
      // Requests whose time is over are left to the sweep, because they may have a default answer.
      if (found?.value.state !== 'open' || isDue(found.value, now) || !isOver(found.value)) return false;
      await store.commit(await settlement(this.ports, found, withdrawnRequest(found.value, now), now));
      return true;
    });
  }
}

// A call that waits for approval ends if its credential is revoked. Source: docs/decisions/0033-asking-people.md.

/** No agent can have this many calls that wait for approval: their requests expire before the number is reached. */
const MAX_WAITING = 500;

/** Returns the calls of these agents that wait for approval, each with the change that ends the call. */
export async function waitingCallsOf(
  { requests, clock }: Pick<InboxPorts, 'requests' | 'clock'>,
  agentIds: readonly string[],
): Promise<readonly WaitingCall<InboxChange>[]> {
  const found = await Promise.all(agentIds.map((agentId) => requests.openOf(agentUid(agentId), MAX_WAITING)));
  const now = clock.now();
  return found.flat().flatMap(({ value: before, version }) => {
    const request = revokedRequest(before, now);
    const { call, asked_by_agent: agentId } = before;
    if (request === undefined || call?.lineage === undefined || agentId === undefined) return [];
    const ended = { kind: 'replaceRequest', request, before, version } as const;
    return [{ id: before.id, agentId, lineage: call.lineage, ended }];
  });
}

/**
 * Undoes a change of a question about a result, together with the change of the task: an open question is withdrawn. A
 * withdrawn question stays withdrawn, because the task asks again. MusterError CONFLICT for any other request.
 */
export async function undoRequest(effect: AuditEffect, at: Date): Promise<readonly InboxChange[]> {
  const { id, workspace = '', before, after } = effect;
  const about = after?.['proves'];
  if (typeof about !== 'string')
    throw cannotUndoError(effect, 'The person has been notified. inbox.withdraw ends an open question.');
  return before === undefined ? [{ kind: 'withdrawQuestion', id, workspace, about, at }] : [];
}
