/** Events of the audit log since a time, for the day of agents. They are loaded again when the queue changes. */
import { usePages } from '../../calls/useResponse.ts';
import { useCounts, useSessionId } from '../../live/coordination.ts';
import { workspace } from '../../router.ts';
import { mayAs } from '../../shell/role.ts';
import { type AuditPage, askAudit } from '../audit/events.ts';
import type { DayEvent } from './day.ts';

/** Number of pages that are loaded at first, with 100 events each. */
const FIRST_PAGES = 5;

/** @param agentId if given, only events by this agent */
export function useDayEvents(start: Date, agentId?: string) {
  const here = workspace.value;
  const session = useSessionId(here);
  const counts = useCounts({ here, session: 'value' in session ? session.value : undefined });
  const asked = {
    of: mayAs('leader') ? ('workspace' as const) : ('mine' as const),
    since: start.toISOString(),
    ...(agentId !== undefined && { agent_id: agentId }),
  };
  return usePages(
    JSON.stringify([here, asked]),
    (cursor) => askAudit(asked, 100, cursor),
    ({ nextCursor }) => nextCursor,
    { version: JSON.stringify('value' in counts ? counts.value : {}), first: FIRST_PAGES },
  );
}

/** Returns the events of the loaded pages. */
export function eventsOf(pages: readonly AuditPage[]): readonly DayEvent[] {
  return pages.flatMap(({ events }) => events.map((event) => ({ ...event, at: new Date(event.at) })));
}
