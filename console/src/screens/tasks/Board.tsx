/** Six columns, each with the number of its tasks and the first or newest of them as cards. */
import { common } from '../../../text/common.ts';
import { shell } from '../../../text/shell.ts';
import { tasks as text } from '../../../text/tasks.ts';
import { fill } from '../../../ui/format.ts';
import { Priority } from '../../../ui/Priority.tsx';
import { State } from '../../../ui/State.tsx';
import { UserText } from '../../../ui/UserText.tsx';
import { type SessionScope, useClosedTasks, useCounts, useOpenParts, useStuckTasks } from '../../live/coordination.ts';
import type { Task } from '../../live/documents.ts';
import type { Paged } from '../../live/states.ts';
import { Bones } from '../../parts/Bones.tsx';
import { Lease } from '../../parts/Lease.tsx';
import { headOf, MoreOf } from '../../parts/More.tsx';
import { Near } from '../../parts/Near.tsx';
import { Shown } from '../../parts/Notice.tsx';
import { At } from '../../parts/Time.tsx';
import { isClosed, stateOf, titleOf, workerOf } from '../../parts/taskState.ts';
import { Who } from '../../parts/Who.tsx';
import { addressOf } from '../../router.ts';
import { PAGES } from '../../shell/screens.ts';
import { Because } from './Because.tsx';
import { COLUMNS, type Column, columnOf } from './columns.ts';

interface BoardProps {
  readonly where: SessionScope;
  keep(task: Task): boolean;
}

export function Board({ where, keep }: BoardProps) {
  const open = useOpenParts(where);
  const stuck = useStuckTasks(where);
  const counts = useCounts(where);
  const closed = [useClosedTasks(where, 'done'), useClosedTasks(where, 'failed'), useClosedTasks(where, 'cancelled')];
  return (
    <div class="board">
      {COLUMNS.map((column) => (
        <BoardColumn
          key={column}
          column={column}
          tasks={columnOf(column, { open, stuck, closed, counts })}
          keep={keep}
        />
      ))}
    </div>
  );
}

interface BoardColumnProps extends Pick<BoardProps, 'keep'> {
  readonly column: Column;
  readonly tasks: Paged<Task>;
}

/** Icon of a column. */
const STATES: Readonly<Record<Column, string>> = {
  blocked: 'blocked',
  available: 'available',
  in_progress: 'in_progress',
  waiting: 'waiting',
  verifying: 'verifying',
  closed: 'done',
};

function BoardColumn({ column, tasks, keep }: BoardColumnProps) {
  return (
    <section class="column" aria-label={text.boardColumns[column]}>
      <div class="head">
        <h2>
          <State of={STATES[column]} words={text.boardColumns[column]} />
        </h2>
        <span class="count">{headOf(tasks)}</span>
      </div>
      <Shown live={tasks.live} what={shell.tasks.toLowerCase()} bones={<Bones />}>
        {({ rows }) => (
          <ul class="stack">
            {rows.filter(keep).map((task) => (
              <Near key={task.id} class="tile" height={112}>
                <Tile task={task} />
              </Near>
            ))}
          </ul>
        )}
      </Shown>
      <MoreOf what={shell.tasks.toLowerCase()} of={tasks} />
    </section>
  );
}

function Tile({ task }: { readonly task: Task }) {
  const { completed_at: end, priority } = task;
  const holder = workerOf(task);
  const state = stateOf(task);
  return (
    <>
      <p class="title">
        <a href={addressOf([PAGES.task, task.id])}>
          <UserText text={titleOf(task)} limit={120} />
        </a>
      </p>
      <p class="low">
        {isClosed(task) ? (
          <>
            <State of={state} />
            {end !== null && <At at={end} />}
          </>
        ) : (
          <span>
            {state === 'never' && <span class="bad">{`${text.cantStart} `}</span>}
            <Because task={task} />
          </span>
        )}
      </p>
      <p class="low">
        {holder === null ? (
          <span class="faint">{common.unassigned}</span>
        ) : (
          <Who id={holder} hasSign={!isClosed(task)} />
        )}
        {!isClosed(task) && <Lease task={task} />}
        <span class="push">
          <Priority of={priority} label={fill(text.priorityOf, { n: priority })} />
        </span>
      </p>
    </>
  );
}
