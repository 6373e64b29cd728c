/** One column per state, with the number of tasks in its heading and the first or newest tasks as cards. */
import {
  type ClosedStatus,
  type SessionScope,
  useClosedTasks,
  useCounts,
  useOpenParts,
  useStuckTasks,
} from '../../live/coordination.ts';
import type { Task } from '../../live/documents.ts';
import type { Paged } from '../../live/states.ts';
import { headOf, MoreOf } from '../../parts/More.tsx';
import { Shown } from '../../parts/Notice.tsx';
import { ScrollArea } from '../../parts/ScrollArea.tsx';
import { nameOf, Status } from '../../parts/Status.tsx';
import { UserText } from '../../parts/UserText.tsx';
import { addressOf } from '../../router.ts';
import { OPEN_COLUMNS, openColumn } from './columns.ts';
import { Because, Holder } from './TaskTable.tsx';

const CLOSED_COLUMNS = ['done', 'failed', 'cancelled'] as const;

export function Board({ where }: { readonly where: SessionScope }) {
  const parts = useOpenParts(where);
  const stuck = useStuckTasks(where);
  const counts = useCounts(where);
  return (
    <ScrollArea class="board" label="Board">
      {OPEN_COLUMNS.map((state) => (
        <Column key={state} state={state} tasks={openColumn(state, parts, stuck, counts)} />
      ))}
      {CLOSED_COLUMNS.map((state) => (
        <ClosedColumn key={state} state={state} where={where} />
      ))}
    </ScrollArea>
  );
}

function ClosedColumn({ state, where }: { readonly state: ClosedStatus; readonly where: SessionScope }) {
  return <Column state={state} tasks={useClosedTasks(where, state)} />;
}

function Column({ state, tasks }: { readonly state: string; readonly tasks: Paged<Task> }) {
  return (
    <section class="column">
      <h2>
        <Status of={state} /> <span class="count">{headOf(tasks)}</span>
      </h2>
      <Shown live={tasks.live}>
        {({ rows }) => (
          <ul class="plain">
            {rows.map((task) => (
              <li key={task.id} class="tile">
                <a href={addressOf(['t', task.id])}>
                  <UserText text={task.description.split('\n', 1)[0] ?? ''} limit={120} />
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
      <MoreOf what={`${nameOf(state)} tasks`} of={tasks} />
    </section>
  );
}
