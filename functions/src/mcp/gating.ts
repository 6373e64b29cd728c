/** Calls that a person may have to approve. Source: docs/security.md#two-rules; docs/decisions/0033-asking-people.md. */
import { asksIn } from '../access/rules/principal.ts';
import { LooseningError } from '../kernel/loosening.ts';
import type { RequestContext, Services } from './callContext.ts';
import type { PreparedCall, Tool } from './tool.ts';

/**
 * A call that a person may have to approve: because the workspace wants it, or because it loosens a limit. The answer of an
 * earlier call with the same key is replayed without asking.
 */
export function gated(
  services: () => Services,
  { principal, workspace }: RequestContext,
  { name, tool }: { readonly name: string; readonly tool: Tool },
  prepared: PreparedCall,
): PreparedCall {
  const { input, idempotencyKey, mostUsd } = prepared;
  const call = { principal, workspace, tool: name, input, idempotencyKey, mostUsd };
  const isAsked = tool.approvable && asksIn(principal.owner, workspace);
  return {
    ...prepared,
    async run(context) {
      const said = isAsked ? await services().approvals.pass(call) : undefined;
      if (said !== undefined) return said;
      try {
        return await prepared.run(context);
      } catch (error) {
        if (!(error instanceof LooseningError) || error.loosening.inPerson || !tool.loosens?.length)
          throw error;
        return services().approvals.passLoosening(call, error);
      }
    },
  };
}
