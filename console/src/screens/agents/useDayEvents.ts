/** Events of the audit log since a time, for the day of agents. They are loaded again when the queue changes. */
import { z } from 'zod/mini';
import { pagesOf } from '../../calls/responses.ts';
import { callTool } from '../../calls/tools.ts';
import { type ResponseState, useResponse } from '../../calls/useResponse.ts';
import { useCounts, useSessionId } from '../../live/coordination.ts';
import { workspace } from '../../router.ts';
import { mayAs } from '../../shell/role.ts';
import type { DayEvent } from './day.ts';

const fields = z.record(z.string(), z.unknown());
const page = z.object({
  events: z.array(
    z.object({
      at: z.string(),
      by: z.string(),
      tool: z.string(),
      changes: z.array(
        z.object({ kind: z.string(), id: z.string(), before: z.exactOptional(fields), after: z.exactOptional(fields) }),
      ),
    }),
  ),
  nextCursor: z.exactOptional(z.string()),
});

/** Pages of 100 events. On a busier day, the timeline begins later. */
const MAX_PAGES = 5;

/** @param agentId if given, only events by this agent */
export function useDayEvents(start: Date, agentId?: string): ResponseState<readonly DayEvent[]> {
  const here = workspace.value;
  const session = useSessionId(here);
  const counts = useCounts({ here, session: 'value' in session ? session.value : undefined });
  const of = mayAs('leader') ? 'workspace' : 'mine';
  const asked = { of, since: start.toISOString(), limit: 100, ...(agentId !== undefined && { agent_id: agentId }) };
  const ask = async () => {
    const pages = await pagesOf(
      MAX_PAGES,
      (cursor) => callTool('system.getAudit', { ...asked, ...(cursor !== undefined && { cursor }) }, page),
      ({ nextCursor }) => nextCursor,
    );
    return pages.flatMap(({ events }) => events.map((event) => ({ ...event, at: new Date(event.at) })));
  };
  return useResponse(JSON.stringify([here, asked]), ask, JSON.stringify('value' in counts ? counts.value : {}));
}
