/** Runs approved calls, each exactly once, in any running instance. Source: docs/decisions/0033-asking-people.md. */
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

/** Maximum number of failed attempts to run a call. */
const MAX_EPOCHS = 5;

/** Runs a call on behalf of an absent caller. Idempotent by id. */
export type MakeCall = (call: {
  readonly id: string;
  readonly caller: RememberedCaller;
  readonly workspace: string;
  readonly tool: string;
  readonly input: JsonObject;
  readonly approvedBy?: string | undefined;
  /** The loosenings that the approver was shown. */
  readonly shown?: readonly string[] | undefined;
}) => Promise<CallOutcome>;

export class ApprovalExecution extends Service<InboxPorts & { readonly makeCall: MakeCall }> {
  /** Runs the calls whose instance crashed. */
  readonly part: SweepPart = { name: 'approvals', run: (turn) => this.sweep(turn) };

  /**
   * Safe to repeat, to delay, and to run in two instances concurrently: one of them claims the request, and the call
   * is recorded under the request's id, so that a call completed by a crashed instance does not run again.
   * @throws Error if a retry may succeed
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
      // The sweep executes an unreadable request once it is readable.
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
      // The call itself checks the rights of its asker and of the owner.
      const approver = answered_by === owner_uid ? undefined : answered_by;
      if (approver !== undefined && (await this.hasLeft(approver, workspace)))
        return { error: approverLeft(workspace) };
      const outcome = await this.ports.makeCall({ id, caller, workspace, tool, input, approvedBy, shown });
      // Contention changed nothing, so the approval is not used up.
      if ('error' in outcome && isContention(outcome.error)) throw outcome.error;
      return outcome;
    } catch (error) {
      this.ports.log.warn('approved_call_broke_off', { requestId: id, epoch, error });
      if (epoch < MAX_EPOCHS) throw error;
      return { error: error instanceof MusterError ? error : gaveUp(id) };
    }
  }

  /** Returns whether a person no longer has a role in the workspace. Their approvals then no longer count. */
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
    `The call was not run: its approver no longer has a role in the workspace "${workspace}".`,
    { reason: APPROVER_LEFT, suggestion: 'Repeat the call: a current member is then asked.' },
  );
}

function gaveUp(id: string): MusterError {
  return new MusterError('INTERNAL', `The call was interrupted ${MAX_EPOCHS} times. Quote ${id}.`);
}
