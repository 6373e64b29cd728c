/**
 * Approvals of calls. A call needs an approval if the workspace requires it, or if an agent would loosen a limit with
 * the call. Source: docs/decisions/0033-asking-people.md; docs/security.md#two-rules.
 */
import { z } from 'zod';
import type { ApprovableCall, Approvals } from '../../../access/rules/permissionCheck.ts';
import { type Principal, personsRoleIn } from '../../../identity/rules/principal.ts';
import { IDEMPOTENCY_HOURS } from '../../../kernel/commit.ts';
import { retryOnConflict } from '../../../kernel/concurrency.ts';
import { ERROR_CODES, type ErrorCode, keyReused, MusterError } from '../../../kernel/errors.ts';
import { canonicalJson, type JsonObject, jsonObject, requireSize } from '../../../kernel/json.ts';
import { approverOf, describeLoosening, LOOSENS_A_LIMIT, type LooseningError } from '../../../kernel/loosening.ts';
import { Service } from '../../../kernel/ports.ts';
import { creationChangeOf } from './asking.ts';
import type { InboxPorts } from './ports.ts';
import { APPROVE, expiredRequest, isApproved, isDue, NEW_REQUEST, type Request } from './request.ts';

/** Maximum size of a call's arguments in bytes. One document contains the request, the call and its outcome. */
const MAX_STORED_OUTCOME_BYTES = 300_000;

/** Number of characters of the arguments that the question shows. The stored call contains all the arguments. */
const MAX_SHOWN_CHARACTERS = 600;
const DEFAULT_EXPIRY_HOURS = 24;
const ID_LENGTH = 20;

interface WantedApproval {
  readonly askedOf: string;
  readonly workspace: string;
  /** Descriptions of the limits that the call would loosen. If set, no agent can answer for the person. */
  readonly would?: readonly string[];
}

export class ApprovalGate
  extends Service<InboxPorts & { readonly budget: { readonly cost_usd: number } }>
  implements Approvals
{
  /** Checks the approval rules of the workspace. If there are any, this reads one document. */
  async requireApproval(call: ApprovableCall): Promise<JsonObject | undefined> {
    const { workspaces, budget, roles } = this.ports;
    const found = await workspaces.find(call.workspace);
    const rule = found?.value.approvals?.find(({ tool }) => tool === call.tool);
    if (rule === undefined) return undefined;
    const { above_usd } = rule;
    if (above_usd !== undefined && (call.maxUsd ?? budget.cost_usd) <= above_usd) return undefined;
    const { principal } = call;
    const askedOf = rule.asks ?? principal.owner_uid;
    // If the caller is the approver, the call needs no approval.
    if (principal.kind === 'person' && principal.uid === askedOf) return undefined;
    if (askedOf !== principal.owner_uid && personsRoleIn(await roles.of(askedOf), call.workspace) === undefined)
      throw new MusterError('FORBIDDEN', `The approver of ${rule.tool} has left the workspace "${call.workspace}".`, {
        reason: 'NOBODY_TO_ASK',
        suggestion: 'A leader must set another approver with access.update_workspace.',
      });
    return this.settled(call, { askedOf, workspace: call.workspace });
  }

  /** A person cannot approve without an account, or without a role in the workspace whose limit is loosened. */
  async requireLooseningApproval(call: ApprovableCall, { loosening, would }: LooseningError): Promise<JsonObject> {
    const { idTokens, roles } = this.ports;
    const askedOf = approverOf(loosening, call.principal);
    const { workspace = call.workspace } = loosening;
    const [profiles, asked] = await Promise.all([idTokens.profiles([askedOf]), roles.of(askedOf)]);
    if (!profiles.has(askedOf) || personsRoleIn(asked, workspace) === undefined) {
      const why = `the person who must approve it has no account or no role in the workspace "${workspace}"`;
      throw new MusterError('FORBIDDEN', `This would ${describeLoosening(would)}, but ${why}.`, {
        reason: 'NOBODY_TO_ASK',
        suggestion: 'Ask a person to call the tool, in the console or with their ID token.',
      });
    }
    return this.settled(call, { askedOf, workspace, would });
  }

  private settled(call: ApprovableCall, approval: WantedApproval): Promise<JsonObject> {
    const { requests, hashing, clock, randomness } = this.ports;
    const { principal, workspace, tool, input, idempotencyKey } = call;
    const digest = hashing.sha256(canonicalJson(input));
    const named = idempotencyKey === undefined ? { digest } : { key: idempotencyKey };
    const callKey = hashing.sha256(canonicalJson({ uid: principal.uid, tool, workspace, ...named }));
    return retryOnConflict(randomness, async () => {
      const found = await requests.latestOf(callKey);
      const now = clock.now();
      if (found !== undefined) {
        const request = isDue(found.value, now) ? expiredRequest(found.value, now) : found.value;
        const args = request.call?.arguments;
        if (args !== undefined && hashing.sha256(canonicalJson(args)) !== digest) throw keyReused();
        const decision = previousDecision(request, now);
        if (decision !== undefined) return decision;
      }
      throw await this.ask(call, approval, callKey, found?.value.id ?? '');
    });
  }

  private async ask(
    call: ApprovableCall,
    { askedOf, workspace, would }: WantedApproval,
    callKey: string,
    before: string,
  ): Promise<MusterError> {
    const { store, clock, hashing, idTokens } = this.ports;
    const { principal, tool, input } = call;
    // The call may run an hour later, so it is stored as the JSON that was received.
    const args = jsonObject.parse(JSON.parse(JSON.stringify(input)));
    requireSize('A call that waits for approval', 'arguments', args, MAX_STORED_OUTCOME_BYTES);
    const now = clock.now();
    const name = (await idTokens.profiles([askedOf])).get(askedOf)?.name ?? askedOf;
    const { toolsets, held_to, readonly = false, grant, lineage } = principal;
    const request: Request = {
      ...NEW_REQUEST,
      // The derived id makes one of two concurrent commits stale. Its call then finds the other call's request.
      id: `request-${hashing.sha256(`${callKey}:${before}`).slice(0, ID_LENGTH)}`,
      workspace,
      kind: 'approval',
      question: questionOf(principal, tool, args, would),
      asked_by: principal.uid,
      ...(principal.agent_id !== undefined && { asked_by_agent: principal.agent_id }),
      owner_uid: principal.owner_uid,
      asked_of: askedOf,
      asked_of_name: name,
      created_at: now,
      expires_at: new Date(now.getTime() + DEFAULT_EXPIRY_HOURS * 3_600_000),
      call: {
        tool,
        arguments: args,
        ...(toolsets && { toolsets }),
        ...(held_to !== undefined && { held_to }),
        readonly,
        ...(grant && { grant: grant.id }),
        ...(lineage && { lineage }),
      },
      call_key: callKey,
      ...(would !== undefined && { in_person: true as const, would }),
    };
    await store.commit(creationChangeOf(request));
    return approvalRequired(request);
  }
}

/**
 * Returns the stored response; undefined if a new approval is needed.
 * @throws MusterError if the approval is pending or refused, and the error of an approved call
 */
function previousDecision(request: Request, now: Date): JsonObject | undefined {
  const { state, answer, settled_at, outcome, would } = request;
  if (state === 'open' || isApproved(request)) throw approvalRequired(request);
  const isOld = now.getTime() - Number(settled_at) > IDEMPOTENCY_HOURS * 3_600_000;
  if (state !== 'answered' || isOld) return undefined;
  if (answer !== APPROVE) throw notApproved(request);
  if (outcome === undefined) return undefined;
  const kept = stored.parse(outcome);
  if ('answer' in kept) return kept.answer;
  const { code, message, ...details } = kept.error;
  // A new approval can help if the approver left the workspace, or if the call would loosen more than was shown.
  const { reason } = details;
  if (reason === APPROVER_LOST_ACCESS || (reason === LOOSENS_A_LIMIT && would !== undefined)) return undefined;
  throw new MusterError(isCode(code) ? code : 'INTERNAL', message, details);
}

function questionOf({ agent_id, uid }: Principal, tool: string, args: JsonObject, would?: readonly string[]): string {
  const who = agent_id === undefined ? `"${uid}"` : `the agent "${agent_id}"`;
  const json = [...JSON.stringify(args)];
  const shown = json.slice(0, MAX_SHOWN_CHARACTERS).join('');
  const effect = would === undefined ? '' : `The call would ${describeLoosening(would)}. `;
  return `May ${who} call ${tool}? ${effect}${shown}${json.length > MAX_SHOWN_CHARACTERS ? '…' : ''}`;
}

function approvalRequired(request: Request): MusterError {
  const { id, call, asked_of_name, expires_at } = request;
  const message = isApproved(request)
    ? `${call?.tool} is approved and running. The id of the request is "${id}".`
    : `${call?.tool} is waiting for approval by ${asked_of_name}. The id of the request is "${id}".`;
  return new MusterError('APPROVAL_REQUIRED', message, {
    reason: isApproved(request) ? 'BEING_MADE' : 'WAITS_FOR_APPROVAL',
    about: { request_id: id, expires_at: expires_at.toISOString() },
    suggestion: `Call inbox.wait with request_id "${id}". After the approval, the call runs automatically with your rights, and repeating the call returns its result. Do not work around the approval.`,
  });
}

function notApproved({ id, call, asked_of_name, comment }: Request): MusterError {
  const why = comment === undefined ? '' : ` "${comment}"`;
  return new MusterError('FORBIDDEN', `${asked_of_name} refused this call of ${call?.tool}.${why}`, {
    reason: 'NOT_APPROVED',
    about: { request_id: id },
    suggestion: 'Continue without this call, or ask this person with inbox.ask what to do instead.',
  });
}

export type CallOutcome = { readonly answer: JsonObject } | { readonly error: MusterError };

const text = z.string().exactOptional();

const stored = z.union([
  z.object({ answer: jsonObject }),
  z.object({ error: z.object({ code: z.string(), message: z.string(), field: text, reason: text, suggestion: text }) }),
]);

export function storedOutcome(outcome: CallOutcome): JsonObject {
  if ('answer' in outcome) return { answer: outcome.answer };
  const { code, message, details } = outcome.error;
  const { field, reason, suggestion } = details;
  return { error: { code, message, field, reason, suggestion } };
}

/** Reason of the error if the person who approved the call no longer has a role in the workspace. */
export const APPROVER_LOST_ACCESS = 'APPROVER_LEFT';

function isCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code);
}
