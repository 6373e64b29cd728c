/** Runs each approved call exactly once, on any instance. Source: docs/decisions/0033-asking-people.md. */
import type { ApprovedCall } from '../../../access/rules/authentication.ts';
import { personsRoleIn } from '../../../identity/rules/principal.ts';
import { isContention } from '../../../kernel/concurrency.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { Service, skipUnreadable } from '../../../kernel/ports.ts';
import { type SweepContext, type SweepJob, type SweepReport, sweepPages } from '../../../kernel/sweep.ts';
import { changeRequest } from './answering.ts';
import { APPROVER_LOST_ACCESS, type CallOutcome, storedOutcome } from './approvals.ts';
import type { InboxPorts } from './ports.ts';
import { markDone, markStarted, type Request } from './request.ts';

const BATCH = 20;

/** Maximum number of attempts to run a call. After the last attempt, the call has failed. */
const MAX_EPOCHS = 5;

/** Runs a call on behalf of a caller that is no longer connected. Safe to repeat with the same id. */
export type RunApprovedCall = (call: ApprovedCall) => Promise<CallOutcome>;

export class ApprovalExecution extends Service<InboxPorts & { readonly runApprovedCall: RunApprovedCall }> {
  /** Runs the approved calls of instances that crashed. */
  readonly sweepJob: SweepJob = { name: 'approvals', run: (turn) => this.sweep(turn) };

  /** Runs an approved call once, even if this is repeated. @throws Error if the call failed but a retry may succeed */
  async execute(id: string): Promise<'made' | 'nothing'> {
    const { requests, clock } = this.ports;
    const find = () => requests.find(id);
    // Skips an unreadable request. The sweep runs its call once the request is readable.
    const findReadable = () => skipUnreadable(find());
    const taken = await changeRequest(this.ports, findReadable, (request) => markStarted(request, clock.now()));
    if (taken?.call === undefined) return 'nothing';
    const outcome = storedOutcome(await this.outcomeOf(taken, taken.call));
    await changeRequest(this.ports, find, (request) => markDone(request, outcome, taken.execution_epoch));
    return 'made';
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
      // The rights of the asker and of the owner are checked while the call runs.
      const approver = answered_by === owner_uid ? undefined : answered_by;
      if (approver !== undefined && personsRoleIn(await this.ports.roles.of(approver), workspace) === undefined) {
        const message = `The call was not run: its approver no longer has a role in the workspace "${workspace}".`;
        const suggestion = 'Repeat the call to ask a current member for approval.';
        return { error: new MusterError('FORBIDDEN', message, { reason: APPROVER_LOST_ACCESS, suggestion }) };
      }
      const outcome = await this.ports.runApprovedCall({ id, caller, workspace, tool, input, approvedBy, shown });
      // The call failed because of contention and changed nothing, so the approval can still be used.
      if ('error' in outcome && isContention(outcome.error)) throw outcome.error;
      return outcome;
    } catch (error) {
      this.ports.log.warn('approved_call_broke_off', { requestId: id, epoch, error });
      if (epoch < MAX_EPOCHS) throw error;
      const message = `Call interrupted ${MAX_EPOCHS} times. Report request id ${id} to the operator.`;
      return { error: error instanceof MusterError ? error : new MusterError('INTERNAL', message) };
    }
  }

  private async sweep(turn: SweepContext): Promise<SweepReport> {
    const counts = { made: 0, failed: 0 };
    const { requests, log } = this.ports;
    const due = (after: SweepContext['from']) => requests.approvedCallsDue(turn.now, BATCH, after);
    const end = await sweepPages(turn, due, async ({ id }) => {
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
