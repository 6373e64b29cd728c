/** Makes approved calls, each exactly once, by whoever is alive then. Source: docs/decisions/0033-asking-people.md. */
import type { RememberedCaller } from '../../../access/rules/authentication.ts';
import { personsRoleIn } from '../../../identity/rules/principal.ts';
import { MusterError } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { Service, unlessUnreadable } from '../../../kernel/ports.ts';
import { type SweepPart, type SweepTurn, type Swept, walk } from '../../../kernel/sweep.ts';
import { isContention, retryStale } from '../../../kernel/waiting.ts';
import { APPROVER_LEFT, type CallOutcome, keptOutcome } from './approvals.ts';
import type { InboxPorts } from './ports.ts';
import { madeWith, type Request, takenOn } from './request.ts';

const BATCH = 20;

/** How often a call is taken on that comes to nothing. */
const MAX_EPOCHS = 5;

/** Makes a call as somebody who is not there. Under one id it is made once. */
export type MakeCall = (call: {
  readonly id: string;
  readonly caller: RememberedCaller;
  readonly workspace: string;
  readonly tool: string;
  readonly input: JsonObject;
  readonly approvedBy?: string | undefined;
  /** The loosenings that they were shown. */
  readonly shown?: readonly string[] | undefined;
}) => Promise<CallOutcome>;

export class ApprovalExecution extends Service<InboxPorts & { readonly makeCall: MakeCall }> {
  /** Makes the calls whose instance has died. */
  readonly part: SweepPart = { name: 'approvals', run: (turn) => this.sweep(turn) };

  /**
   * Safe to call twice, late, and in two instances at once: one takes the request on, and the call itself is recorded
   * under the request's id, so that one that was made by an instance that died is not made again.
   * @throws Error where it may go well another time
   */
  async execute(id: string): Promise<'made' | 'nothing'> {
    const taken = await this.take(id);
    if (taken?.call === undefined) return 'nothing';
    await this.finish(taken, keptOutcome(await this.outcomeOf(taken, taken.call)));
    return 'made';
  }

  private take(id: string): Promise<Request | undefined> {
    const { requests, store, clock, randomness } = this.ports;
    return retryStale(randomness, async () => {
      // One that cannot be read is executed by the sweep as soon as it can be.
      const found = await unlessUnreadable(requests.find(id));
      const request = found && takenOn(found.value, clock.now());
      if (found === undefined || request === undefined) return undefined;
      await store.commit([{ kind: 'replaceRequest', request, before: found.value, version: found.version }]);
      return request;
    });
  }

  private async outcomeOf(
    request: Request,
    { tool, arguments: input, toolsets, held_to, readonly, grant, lineage }: NonNullable<Request['call']>,
  ): Promise<CallOutcome> {
    const { id, workspace, execution_epoch: epoch, owner_uid, answered_by, would: shown } = request;
    const approvedBy = request.answered_by_agent === undefined ? answered_by : undefined;
    const limits = {
      ...(toolsets && { toolsets }),
      ...(held_to !== undefined && { held_to }),
      ...(readonly && { readonly: true as const }),
    };
    const by = { uid: request.asked_by, agentId: request.asked_by_agent, ownerUid: owner_uid };
    const caller = { ...by, limits, grant, lineage };
    try {
      // The call itself checks the rights of who asked, and of their owner.
      const approver = answered_by === owner_uid ? undefined : answered_by;
      if (approver !== undefined && (await this.hasLeft(approver, workspace)))
        return { error: approverLeft(workspace) };
      const outcome = await this.ports.makeCall({ id, caller, workspace, tool, input, approvedBy, shown });
      // It has changed nothing, and the approval is not used up by it.
      if ('error' in outcome && isContention(outcome.error)) throw outcome.error;
      return outcome;
    } catch (error) {
      this.ports.log.warn('approved_call_broke_off', { requestId: id, epoch, error });
      if (epoch < MAX_EPOCHS) throw error;
      return { error: error instanceof MusterError ? error : gaveUp(id) };
    }
  }

  /** Whether somebody has no role in the workspace any more: their approval counts no longer. */
  private async hasLeft(uid: string, workspace: string): Promise<boolean> {
    return personsRoleIn(await this.ports.roles.of(uid), workspace) === undefined;
  }

  private finish({ id, execution_epoch: epoch }: Request, outcome: JsonObject): Promise<void> {
    const { requests, store, randomness } = this.ports;
    return retryStale(randomness, async () => {
      const found = await requests.find(id);
      const request = found && madeWith(found.value, outcome, epoch);
      if (found === undefined || request === undefined) return;
      await store.commit([{ kind: 'replaceRequest', request, before: found.value, version: found.version }]);
    });
  }

  private async sweep(turn: SweepTurn): Promise<Swept> {
    const counts = { made: 0, failed: 0 };
    const { requests, log } = this.ports;
    const due = (after: SweepTurn['from']) => requests.toMake(turn.now, BATCH, after);
    const end = await walk(turn, due, async ({ id }) => {
      try {
        if ((await this.execute(id)) === 'made') counts.made++;
      } catch (error) {
        counts.failed++;
        log.error('approved_call_not_made', { requestId: id, error });
      }
    });
    return { ...end, counts };
  }
}

function approverLeft(workspace: string): MusterError {
  return new MusterError(
    'FORBIDDEN',
    `The call was not made: the person who approved it has no role in the workspace "${workspace}" any more.`,
    { reason: APPROVER_LEFT, suggestion: 'Make the call again: somebody who is in the workspace is asked.' },
  );
}

function gaveUp(id: string): MusterError {
  return new MusterError('INTERNAL', `The call was begun ${MAX_EPOCHS} times, and broke off. Quote ${id}.`);
}
