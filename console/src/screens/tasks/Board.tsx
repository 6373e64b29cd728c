/** A column for each state. Its head has the count of all; its cards are the latest, or what is open. */

import { useClosedTasks, useOpenTasks } from '../../live/coordination.ts';
import type { Task } from '../../live/documents.ts';
import type { Live } from '../../live/live.ts';
import type { Rows } from '../../live/sources.ts';
import { Shown } from '../../parts/Notice.tsx';
import { Scrolled } from '../../parts/Scrolled.tsx';
import { Status } from '../../parts/Status.tsx';
import { stateOf } from '../../parts/taskState.ts';
import { Words } from '../../parts/Words.tsx';
import { addressOf } from '../../router.ts';
import { Because, Holder } from './TaskTable.tsx';

const OPEN_COLUMNS = ['never', 'blocked', 'available', 'claimed', 'in_progress', 'waiting'] as const;
const CLOSED_COLUMNS = ['done', 'failed', 'cancelled'] as const;

interface BoardProps {
  readonly here: string;
  readonly session: string;
  readonly counts: Readonly<Record<string, number>>;
}

export function Board({ here, session, counts }: BoardProps) {
  const open = useOpenTasks(here, session);
  return (
    <Scrolled class="board" label="Board">
      {OPEN_COLUMNS.map((state) => (
        <Column key={state} state={state} live={chosen(open, state)} />
      ))}
      {CLOSED_COLUMNS.map((state) => (
        <ClosedColumn key={state} state={state} here={here} session={session} all={counts[state] ?? 0} />
      ))}
    </Scrolled>
  );
}

function chosen(live: Live<Rows<Task>>, state: string): Live<Rows<Task>> {
  if (!('value' in live)) return live;
  const rows = live.value.rows.filter((task) => stateOf(task) === state);
  return { ...live, value: { ...live.value, rows } };
}

interface ClosedColumnProps {
  readonly state: (typeof CLOSED_COLUMNS)[number];
  readonly here: string;
  readonly session: string;
  readonly all: number;
}

function ClosedColumn({ state, here, session, all }: ClosedColumnProps) {
  return <Column state={state} live={useClosedTasks(here, session, state)} all={all} />;
}

function Column(props: { readonly state: string; readonly live: Live<Rows<Task>>; readonly all?: number }) {
  const { state, live, all } = props;
  const shown = 'value' in live ? live.value.rows.length : undefined;
  return (
    <section class="column">
      <h2>
        <Status of={state} /> <span class="count">{all ?? shown}</span>
      </h2>
      <Shown live={live}>
        {({ rows }) => (
          <ul class="plain">
            {rows.map((task) => (
              <li key={task.id} class="tile">
                <a href={addressOf(['t', task.id])}>
                  <Words text={task.description.split('\n', 1)[0] ?? ''} most={120} />
                </a>
                <Because task={task} />
                {task.claimed_by !== null && (
                  <p>
                    <Holder task={task} id={task.claimed_by} />
                  </p>
                )}
              </li>
            ))}
          </ul>
        )}
      </Shown>
    </section>
  );
}
