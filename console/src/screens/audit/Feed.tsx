/** Latest events, in sentences, newest first. It is loaded again when the queue or the person's questions change. */
import { audit } from '../../../text/audit.ts';
import { needsYou as text } from '../../../text/needsYou.ts';
import { pagesOf } from '../../calls/responses.ts';
import { usePages } from '../../calls/useResponse.ts';
import { useCounts, useSessionId } from '../../live/coordination.ts';
import { More } from '../../parts/More.tsx';
import { Shown } from '../../parts/Notice.tsx';
import { At } from '../../parts/Time.tsx';
import { Who } from '../../parts/Who.tsx';
import { workspace } from '../../router.ts';
import { mayAs } from '../../shell/role.ts';
import { type AuditFilter, askAudit, type Event } from './events.ts';
import { joined } from './joined.ts';
import { Told } from './Told.tsx';

/** Pages of the log that are searched at most for events that the page selects. A person can ask for more. */
const MAX_PAGES = 5;

/** Filters that the tool does not have, so the page applies them. */
interface Selection {
  readonly by?: string;
  readonly toolset?: string;
}

interface FeedProps {
  readonly asked: AuditFilter;
  readonly only?: Selection;
  readonly limit: number;
  readonly empty: string;
  /** Changes with the data that the feed depends on, apart from the queue. */
  readonly version?: string;
}

export function Feed({ asked, only = {}, limit, empty, version = '' }: FeedProps) {
  const here = workspace.value;
  const session = useSessionId(here);
  const counts = useCounts({ here, session: 'value' in session ? session.value : undefined });
  const filter: AuditFilter = { of: mayAs('leader') ? 'workspace' : 'mine', ...asked };
  const { live, more } = usePages(
    JSON.stringify([here, filter, only, limit]),
    (cursor) => search(cursor, { filter, only, limit }),
    (pages) => pages.at(-1)?.nextCursor,
    { version: JSON.stringify(['value' in counts ? counts.value : {}, version]) },
  );
  return (
    <>
      <Shown live={live} what={text.activity.toLowerCase()}>
        {(searched) => {
          const events = searched.flat().flatMap((page) => page.events);
          const shown = selected(events, only);
          if (shown.length === 0) return <p class="soft">{more === undefined ? empty : audit.noneRecent}</p>;
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
      <More label={audit.older} more={more} />
    </>
  );
}

interface Search {
  readonly filter: AuditFilter;
  readonly only: Selection;
  readonly limit: number;
}

/** Loads pages from a cursor on, until they have as many selected events as are shown. */
function search(start: string | undefined, { filter, only, limit }: Search) {
  const found: Event[] = [];
  return pagesOf(
    Object.keys(only).length === 0 ? 1 : MAX_PAGES,
    async (cursor = start) => {
      const page = await askAudit(filter, limit, cursor);
      found.push(...page.events);
      return page;
    },
    ({ nextCursor }) => (selected(found, only).length < limit ? nextCursor : undefined),
  );
}

function selected(events: readonly Event[], { by, toolset }: Selection): readonly Event[] {
  return joined(events).filter(
    (event) => (by === undefined || event.by === by) && (toolset === undefined || event.tool.startsWith(`${toolset}.`)),
  );
}
