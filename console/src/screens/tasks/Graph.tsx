/** Tasks and their dependencies, from left to right. The table shows them in words. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { withoutHidden } from '../../../../functions/src/kernel/hiddenCharacters.ts';
import { type SessionScope, useClosedTasks, useOpenTasks } from '../../live/coordination.ts';
import type { Task } from '../../live/documents.ts';
import { merged } from '../../live/paging.ts';
import { MoreOf } from '../../parts/More.tsx';
import { Empty, Shown } from '../../parts/Notice.tsx';
import { ScrollArea } from '../../parts/ScrollArea.tsx';
import { stateOf } from '../../parts/taskState.ts';
import { addressOf } from '../../router.ts';
import { edgesOf, type Layout, NODE_HEIGHT, NODE_WIDTH, shownTasks, step } from './graph.ts';
import { graphLayout } from './graphLayout.ts';

export function Graph({ where }: { readonly where: SessionScope }) {
  const open = useOpenTasks(where);
  const done = useClosedTasks(where, 'done');
  const failed = useClosedTasks(where, 'failed');
  const cancelled = useClosedTasks(where, 'cancelled');
  const closed = merged([done, failed, cancelled]);
  return (
    <Shown live={open.live}>
      {({ rows }) => {
        const ended = 'value' in closed.live ? closed.live.value.rows : [];
        const tasks = shownTasks(rows, ended);
        if (tasks.length === 0) return <Empty title="No tasks yet" />;
        return (
          <>
            <Drawn tasks={tasks} hidden={rows.length + ended.length - tasks.length} />
            <MoreOf what="open tasks" of={open} />
            <MoreOf what="closed tasks" of={closed} />
          </>
        );
      }}
    </Shown>
  );
}

function Drawn({ tasks, hidden }: { readonly tasks: readonly Task[]; readonly hidden: number }) {
  const layout = useSignal<Layout | undefined>(undefined);
  const trouble = useSignal<string | undefined>(undefined);
  const edges = edgesOf(tasks);
  // States change often and affect only colors. The layout depends only on tasks and dependencies.
  const key = JSON.stringify([tasks.map(({ id }) => id), edges]);
  useEffect(() => {
    const laid = graphLayout({ ids: tasks.map(({ id }) => id), edges });
    laid.result.then(
      (found) => {
        layout.value = found;
      },
      (error: unknown) => {
        trouble.value = error instanceof Error ? error.message : String(error);
      },
    );
    return laid.stop;
  }, [key]);
  if (trouble.value !== undefined) return <p class="error">{`The graph cannot be drawn: ${trouble.value}`}</p>;
  const found = layout.value;
  if (found === undefined) return <p class="notice loading">Drawing</p>;
  const byId = new Map(tasks.map((task) => [task.id, task]));
  return (
    <>
      <ScrollArea class="graph" label="Graph of tasks">
        <svg
          width={found.width}
          height={found.height}
          viewBox={`0 0 ${found.width} ${found.height}`}
          onKeyDown={(event) => byArrows(event, tasks)}
        >
          <title>Each task leads to those that wait for it</title>
          {found.edges.map(({ from, to, points }) => (
            <polyline key={`${from} ${to}`} class="edge" points={points.map(({ x, y }) => `${x},${y}`).join(' ')} />
          ))}
          {found.nodes.map(({ id, x, y }) => {
            const task = byId.get(id);
            return task === undefined ? null : <Node key={id} task={task} x={x} y={y} />;
          })}
        </svg>
      </ScrollArea>
      <p class="soft">
        {hidden > 0 && `${hidden} that are closed and lead to nothing open are left out. `}
        Arrow keys follow the lines.
      </p>
    </>
  );
}

const LETTERS = 25;

function shortened(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}

function Node({ task, x, y }: { readonly task: Task; readonly x: number; readonly y: number }) {
  const state = stateOf(task);
  const [first = ''] = task.description.split('\n', 1);
  // The graph omits invisible characters; the task's page shows them.
  const title = withoutHidden(first);
  const words = state === 'never' ? 'will never start' : state.replace('_', ' ');
  const shown = shortened(title, LETTERS);
  const how = task.claimed_by === null ? words : shortened(`${words}, ${task.claimed_by}`, LETTERS + 4);
  return (
    <a
      class={`node ${state}`}
      href={addressOf(['t', task.id])}
      data-id={task.id}
      aria-label={shown === title ? `${shown} ${how}` : `${shown} ${how}: ${title}`}
    >
      <title>{title}</title>
      <rect x={x - NODE_WIDTH / 2} y={y - NODE_HEIGHT / 2} width={NODE_WIDTH} height={NODE_HEIGHT} rx={6} />
      <text x={x - NODE_WIDTH / 2 + 10} y={y - 4}>
        {shown}
      </text>{' '}
      <text class="state" x={x - NODE_WIDTH / 2 + 10} y={y + 14}>
        {how}
      </text>
    </a>
  );
}

function byArrows(event: KeyboardEvent & { readonly currentTarget: SVGSVGElement }, tasks: readonly Task[]): void {
  const { activeElement } = document;
  const at = activeElement?.getAttribute('data-id');
  const next = at == null ? undefined : step(tasks, at, event.key);
  if (next === undefined) return;
  event.preventDefault();
  event.currentTarget.querySelector<SVGAElement>(`[data-id="${CSS.escape(next)}"]`)?.focus();
}
