/** Goals that the workspace had before, each with how many of its tasks were done. Its link leads to their results. */
import { needsYou as text } from '../../../text/needsYou.ts';
import { fill, number } from '../../../ui/format.ts';
import { Icon } from '../../../ui/Icon.tsx';
import { UserText } from '../../../ui/UserText.tsx';
import { countIn, useCounts } from '../../live/coordination.ts';
import { archivedSessionDocument } from '../../live/documents.ts';
import { usePaged } from '../../live/paged.ts';
import { archivedSessions } from '../../live/queries.ts';
import { now } from '../../live/time.ts';
import { MoreOf } from '../../parts/More.tsx';
import { Section } from '../../parts/Notice.tsx';
import { agoText } from '../../parts/Time.tsx';
import { addressOf } from '../../router.ts';

const STATES = ['available', 'claimed', 'in_progress', 'waiting', 'done', 'failed', 'cancelled'];

export function EarlierGoals({ here }: { readonly here: string }) {
  const goals = usePaged(archivedSessions(here), archivedSessionDocument);
  const rows = 'value' in goals.live ? goals.live.value.rows : [];
  if (rows.length === 0) return null;
  return (
    <Section title={text.earlierGoals}>
      <ul class="card rows">
        {rows.map(({ id, goal, archived_at: at }) => (
          <li key={id} class="row top-line">
            <Icon of="flag" class="faint" />
            <div class="grow">
              <a href={addressOf(['tasks'], { goal: id, show: 'done' })}>
                <UserText text={goal === '' ? text.noGoal : goal} limit={120} />
              </a>
              <p class="meta">
                <DoneOf here={here} session={id} />
                <span>{fill(text.until, { when: agoText(at, now.value) })}</span>
              </p>
            </div>
          </li>
        ))}
      </ul>
      <MoreOf what={text.earlierGoals.toLowerCase()} of={goals} />
    </Section>
  );
}

function DoneOf({ here, session }: { readonly here: string; readonly session: string }) {
  const counts = useCounts({ here, session });
  const [done, all] = [countIn(counts, ['done']), countIn(counts, STATES)];
  if (done === undefined || all === undefined) return <span class="bone word" />;
  return <span>{fill(text.done, { done: number(done), n: number(all) })}</span>;
}
