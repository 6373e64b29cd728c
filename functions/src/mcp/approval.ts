/** Approval of calls. Source: docs/security.md#two-rules; docs/decisions/0033-asking-people.md. */
import type { Approvals } from '../access/rules/permissionCheck.ts';
import { approvalRulesIn } from '../identity/rules/principal.ts';
import { MusterError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import { LooseningError } from '../kernel/loosening.ts';
import { type CallContext, type ClientQuestions, type RequestContext, shownAtClient } from './callContext.ts';
import type { PreparedCall, Tool } from './tool.ts';

export interface ApprovalPorts {
  readonly approvals: Approvals;
  readonly questions: ClientQuestions;
}

/** Returns the call with a wait for approval, if a workspace rule or a loosened limit requires approval. */
export function withApproval(
  { approvals, questions }: ApprovalPorts,
  { principal, workspace }: RequestContext,
  { name, tool }: { readonly name: string; readonly tool: Tool },
  prepared: PreparedCall,
): PreparedCall {
  const { input, idempotencyKey, maxUsd } = prepared;
  const call = { principal, workspace, tool: name, input, idempotencyKey, maxUsd };
  const isAsked = tool.approvable && approvalRulesIn(principal.owner, workspace);
  const run = async (context: CallContext): Promise<JsonObject> => {
    const decision = isAsked ? await approvals.requireApproval(call) : undefined;
    if (decision !== undefined) return decision;
    try {
      return await prepared.run(context);
    } catch (error) {
      if (!(error instanceof LooseningError) || error.loosening.inPerson || !tool.loosens?.length) throw error;
      return approvals.requireLooseningApproval(call, error);
    }
  };
  return {
    ...prepared,
    run: (context) =>
      run(context).catch(async (error: unknown) => {
        if (!(await isDecidedAtClient(questions, context, error))) throw error;
        return run(context);
      }),
  };
}

/**
 * Lets the client open the page on which the person approves the call. When the client repeats the call, waits for
 * the decision, because that the page was opened is not an approval. Returns whether to check the approval again.
 */
async function isDecidedAtClient(questions: ClientQuestions, context: CallContext, error: unknown): Promise<boolean> {
  if (!(error instanceof MusterError) || error.code !== 'APPROVAL_REQUIRED') return false;
  const id = String(error.details.about?.['request_id']);
  const { response } = await shownAtClient(questions, context, id);
  if (response?.action !== 'accept') return false;
  await questions.decided(context.principal, id, context);
  return true;
}
