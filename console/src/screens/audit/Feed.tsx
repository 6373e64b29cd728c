/** Latest events, in sentences, newest first. It is loaded again when the queue or the person's questions change. */

import { needsYou as text } from '../../../text/needsYou.ts';
import { useResponse } from '../../calls/useResponse.ts';
import { useCounts, useSessionId } from '../../live/coordination.ts';
import { Shown } from '../../parts/Notice.tsx';
import { At } from '../../parts/Time.tsx';
import { Who } from '../../parts/Who.tsx';
import { workspace } from '../../router.ts';
import { mayAs } from '../../shell/role.ts';
import { type AuditFilter, askAudit, type Event } from './events.ts';
import { joined } from './joined.ts';
import { Told } from './Told.tsx';

interface FeedProps {
  readonly asked: AuditFilter;
  readonly limit: number;
  readonly empty: string;
  /** Changes with the data that the feed depends on, apart from the queue. */
  readonly version?: string;
  /** Whether an event is shown. */
  isShown?(event: Event): boolean;
}

export function Feed({ asked, limit, empty, version = '', isShown = () => true }: FeedProps) {
  const here = workspace.value;
  const session = useSessionId(here);
  const counts = useCounts({ here, session: 'value' in session ? session.value : undefined });
  const of = mayAs('leader') ? 'workspace' : 'mine';
  const filter: AuditFilter = { of, ...asked };
  const key = JSON.stringify([here, filter, limit]);
  const changes = JSON.stringify(['value' in counts ? counts.value : {}, version]);
  const { live } = useResponse(key, () => askAudit(filter, limit), changes);
  return (
    <Shown live={live} what={text.activity.toLowerCase()}>
      {({ events }) => {
        const shown = joined(events).filter(isShown);
        if (shown.length === 0) return <p class="soft">{empty}</p>;
        return (
          <ol class="feed">
            {shown.map((event) => (
              <li key={event.event_id}>
                <Who id={event.by} isOnlyPicture />
                <p>
                  <Told event={event} />
                </p>
                <At at={new Date(event.at)} />
              </li>
            ))}
          </ol>
        );
      }}
    </Shown>
  );
}
