/** Events of the audit log since a time, for the day of agents. They are loaded again when the queue changes. */
import { z } from 'zod/mini';
import { callTool } from '../../calls/tools.ts';
import { usePages } from '../../calls/useResponse.ts';
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

/** Number of pages that are loaded at first, with 100 events each. */
const FIRST_PAGES = 5;

/** @param agentId if given, only events by this agent */
export function useDayEvents(start: Date, agentId?: string) {
  const here = workspace.value;
  const session = useSessionId(here);
  const counts = useCounts({ here, session: 'value' in session ? session.value : undefined });
  const of = mayAs('leader') ? 'workspace' : 'mine';
  const asked = { of, since: start.toISOString(), limit: 100, ...(agentId !== undefined && { agent_id: agentId }) };
  return usePages(
    JSON.stringify([here, asked]),
    (cursor) => callTool('system.getAudit', { ...asked, ...(cursor !== undefined && { cursor }) }, page),
    ({ nextCursor }) => nextCursor,
    { version: JSON.stringify('value' in counts ? counts.value : {}), first: FIRST_PAGES },
  );
}

/** Returns the events of the loaded pages. */
export function eventsOf(pages: readonly z.output<typeof page>[]): readonly DayEvent[] {
  return pages.flatMap(({ events }) => events.map((event) => ({ ...event, at: new Date(event.at) })));
}
