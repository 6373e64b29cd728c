/** Events of the audit log since a time, for the day of agents. They are loaded again when the queue changes. */
import { pagesOf } from '../../calls/responses.ts';
import { type ResponseState, useResponse } from '../../calls/useResponse.ts';
import { useCounts, useSessionId } from '../../live/coordination.ts';
import { workspace } from '../../router.ts';
import { mayAs } from '../../shell/role.ts';
import { askAudit } from '../audit/events.ts';
import type { DayEvent } from './day.ts';

/** Pages of 100 events. On a busier day, the timeline begins later. */
const MAX_PAGES = 5;

/** @param agentId if given, only events by this agent */
export function useDayEvents(start: Date, agentId?: string): ResponseState<readonly DayEvent[]> {
  const here = workspace.value;
  const session = useSessionId(here);
  const counts = useCounts({ here, session: 'value' in session ? session.value : undefined });
  const asked = {
    of: mayAs('leader') ? ('workspace' as const) : ('mine' as const),
    since: start.toISOString(),
    ...(agentId !== undefined && { agent_id: agentId }),
  };
  const ask = async () => {
    const pages = await pagesOf(
      MAX_PAGES,
      (cursor) => askAudit(asked, 100, cursor),
      ({ nextCursor }) => nextCursor,
    );
    return pages.flatMap(({ events }) => events.map((event) => ({ ...event, at: new Date(event.at) })));
  };
  return useResponse(JSON.stringify([here, asked]), ask, JSON.stringify('value' in counts ? counts.value : {}));
}
