/** Spending of the workspace under its limit. Only a workspace with a limit counts its spending. */
import { z } from 'zod/mini';
import { callTool } from '../calls/tools.ts';
import { useResponse } from '../calls/useResponse.ts';
import { budget } from './budget.ts';

const answer = z.object({ budgets: z.array(budget) });

/** @param version when it changes, the totals are loaded again */
export function useWorkspaceTotals(here: string, version = '') {
  const ask = () => callTool('system.getTree', { kind: 'workspace', id: here }, answer);
  const { live, refetch } = useResponse(here, ask, version);
  const [own] = 'value' in live ? live.value.budgets : [];
  return { own, refetch };
}
