/** Tasks and their dependencies, from left to right. The table shows them in words. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { withoutHidden } from '../../../../functions/src/kernel/hiddenCharacters.ts';
import { needsYou } from '../../../text/needsYou.ts';
import { tasks as text } from '../../../text/tasks.ts';
import { fill, plural } from '../../../ui/format.ts';
import { Icon, IconPaths } from '../../../ui/Icon.tsx';
import { iconOf, State, stateName } from '../../../ui/State.tsx';
import { type SessionScope, useClosedTasks, useOpenTasks } from '../../live/coordination.ts';
import type { Task } from '../../live/documents.ts';
import { merged } from '../../live/paging.ts';
import { Bones } from '../../parts/Bones.tsx';
import { MoreOf } from '../../parts/More.tsx';
import { Empty, Shown } from '../../parts/Notice.tsx';
import { stateOf, titleOf, workerOf } from '../../parts/taskState.ts';
import { useName } from '../../parts/Who.tsx';
import { addressOf } from '../../router.ts';
import { PAGES } from '../../shell/screens.ts';
import * as graph from './graph.ts';
import { graphLayout } from './graphLayout.ts';
import { useView, ZOOM_IN, ZOOM_OUT, zoomOf } from './useView.ts';

interface GraphProps {
  readonly where: SessionScope;
  keep(task: Task): boolean;
}

export function Graph({ where, keep }: GraphProps) {
  const open = useOpenTasks(where);
  const closed = merged([
    useClosedTasks(where, 'done'),
    useClosedTasks(where, 'failed'),
    useClosedTasks(where, 'cancelled'),
  ]);
  const isWhole = useSignal(false);
  return (
    <Shown live={open.live} bones={<Bones lines={8} />}>
      {({ rows }) => {
        const ended = 'value' in closed.live ? closed.live.value.rows : [];
        const tasks = graph.shownTasks(rows, ended, isWhole.value).filter(keep);
        if (tasks.length === 0) return <Empty icon="run" title={needsYou.noTasks} />;
        const hidden = rows.length + ended.length - graph.shownTasks(rows, ended, isWhole.value).length;
        return (
          <>
            <Drawn tasks={tasks} hidden={hidden} showHidden={() => (isWhole.value = true)} />
            <MoreOf what="open tasks" of={open} />
            <MoreOf what="closed tasks" of={closed} />
          </>
        );
      }}
    </Shown>
  );
}

interface DrawnProps {
  readonly tasks: readonly Task[];
  readonly hidden: number;
  showHidden(): void;
}

function Drawn({ tasks, hidden, showHidden }: DrawnProps) {
  const layout = useSignal<graph.Layout | undefined>(undefined);
  const trouble = useSignal<string | undefined>(undefined);
  const edges = graph.edgesOf(tasks);
  // States change often and affect only colors. The layout depends only on tasks and dependencies.
  const key = JSON.stringify([tasks.map(({ id }) => id), edges]);
  useEffect(() => {
    const laid = graphLayout({ ids: tasks.map(({ id }) => id), edges });
    laid.result.then(
      (found) => (layout.value = found),
      (error: unknown) => (trouble.value = error instanceof Error ? error.message : String(error)),
    );
    return laid.stop;
  }, [key]);
  if (trouble.value !== undefined) {
    return (
      <p class="notice bad" role="alert">
        <Icon of="warn" />
        {fill(text.couldNotDraw, { why: trouble.value })}
      </p>
    );
  }
  return layout.value === undefined ? (
    <Bones lines={8} />
  ) : (
    <Canvas tasks={tasks} layout={layout.value} hidden={hidden} showHidden={showHidden} />
  );
}

const LEGEND = ['done', 'in_progress', 'waiting', 'verifying', 'available', 'failed', 'never'] as const;

function Canvas({ tasks, layout, hidden, showHidden }: DrawnProps & { readonly layout: graph.Layout }) {
  const { box, view, size, zoom, fit } = useView(layout);
  const { x, y, scale } = view.value;
  const shown = { x, y, width: size.value.width / scale, height: size.value.height / scale };
  const places = new Map(layout.nodes.map((node) => [node.id, node]));
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const reveal = (node: graph.Point) => (view.value = { scale, ...graph.revealed(shown, node) });
  const byKeys = (event: KeyboardEvent) => {
    const by = zoomOf(event.key);
    if (by === 'fit') fit();
    else if (by !== undefined) zoom(by);
    const at = document.activeElement?.getAttribute('data-id');
    const next = places.get((at && graph.step(tasks, at, event.key)) ?? '');
    if (next === undefined) return;
    event.preventDefault();
    reveal(next);
    // The node may not be drawn until then.
    requestAnimationFrame(() => box.current?.querySelector<SVGAElement>(`[data-id="${CSS.escape(next.id)}"]`)?.focus());
  };
  return (
    <div class="graph">
      <section
        class="canvas"
        ref={box}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keys zoom and follow the arrows.
        tabIndex={0}
        aria-label={text.graphLabel}
        aria-describedby="graph-help"
        onKeyDown={byKeys}>
        <svg viewBox={`${x} ${y} ${shown.width} ${shown.height}`}>
          <title>{text.graphTitle}</title>
          <defs>
            <Tip id="tip" />
            <Tip id="tip-stuck" />
          </defs>
          {layout.singlesAt !== undefined && (
            <text class="lane-name" x={graph.MARGIN} y={layout.singlesAt + 8}>
              {text.noDependencies}
            </text>
          )}
          {graph.edgesOf(tasks).map(({ from, to }) => {
            const [start, end] = [places.get(from), places.get(to)];
            const task = byId.get(to);
            if (start === undefined || end === undefined || task === undefined) return null;
            if (!graph.isNear(shown, start, end)) return null;
            const isStuck = stateOf(task) === 'never' && task.failed_dependencies.includes(from);
            return (
              <path
                key={`${from} ${to}`}
                class={isStuck ? 'edge stuck' : 'edge'}
                d={graph.curve(start, end)}
                marker-end={isStuck ? 'url(#tip-stuck)' : 'url(#tip)'}
              />
            );
          })}
          {layout.nodes.map((at) => {
            const task = graph.isNear(shown, at) ? byId.get(at.id) : undefined;
            return task && <Node key={at.id} task={task} x={at.x} y={at.y} focused={() => reveal(at)} />;
          })}
        </svg>
      </section>
      <div class="under">
        <ul class="legend" aria-label={text.legend}>
          {LEGEND.map((state) => (
            <li key={state}>
              <State of={state} />
            </li>
          ))}
          <li>
            <Icon of="arrow" small />
            {text.arrow}
          </li>
        </ul>
        <p class="acts">
          {hidden > 0 && (
            <>
              <span class="soft">{plural(hidden, text.hidden)}</span>
              <button type="button" class="b small quiet" onClick={showHidden}>
                {text.showHidden}
              </button>
            </>
          )}
          <ZoomButton icon="minus" label={text.zoomOut} zoom={() => zoom(ZOOM_OUT)} />
          <span class="num soft">{`${Math.round(scale * 100)}%`}</span>
          <ZoomButton icon="plus" label={text.zoomIn} zoom={() => zoom(ZOOM_IN)} />
          <ZoomButton icon="fit" label={text.fit} zoom={fit} />
        </p>
        <p id="graph-help" class="away">
          {text.graphHelp}
        </p>
      </div>
    </div>
  );
}

interface ZoomButtonProps {
  readonly icon: 'minus' | 'plus' | 'fit';
  readonly label: string;
  zoom(): void;
}

function ZoomButton({ icon, label, zoom }: ZoomButtonProps) {
  return (
    <button type="button" class="b only small" aria-label={label} title={label} onClick={zoom}>
      <Icon of={icon} small />
    </button>
  );
}

/** Head of an arrow. */
function Tip({ id }: { readonly id: string }) {
  return (
    <marker
      id={id}
      viewBox="0 0 8 8"
      refX="6"
      refY="4"
      markerWidth="8"
      markerHeight="8"
      orient="auto"
      markerUnits="userSpaceOnUse">
      <path class={id === 'tip' ? 'tip' : 'tip stuck'} d="M0 .8 7 4 0 7.2z" />
    </marker>
  );
}

interface NodeProps {
  readonly task: Task;
  readonly x: number;
  readonly y: number;
  focused(): void;
}

function Node({ task, x, y, focused }: NodeProps) {
  const state = stateOf(task);
  // The graph omits invisible characters; the task's page shows them.
  const title = withoutHidden(titleOf(task));
  const holder = workerOf(task);
  const { name } = useName(holder ?? '');
  const who = holder === null ? '' : ` · ${withoutHidden(name).slice(0, 18)}`;
  const lines = graph.linesOf(title);
  const first = y + (lines.length === 1 ? 33 : 26);
  return (
    <a
      class={`node ${TONES[state] ?? ''}`}
      href={addressOf([PAGES.task, task.id])}
      data-id={task.id}
      // The view stays if the mouse gave the focus: otherwise, the node would move away from a click.
      onFocus={({ currentTarget }) => currentTarget.matches(':focus-visible') && focused()}>
      <title>{`${title} ${stateName(state)}${who}`}</title>
      <rect x={x} y={y} width={graph.NODE_WIDTH} height={graph.NODE_HEIGHT} rx={10} />
      <svg
        class={`i ${iconOf(state)}`}
        aria-hidden="true"
        x={x + 14}
        y={first - 13}
        width={16}
        height={16}
        viewBox="0 0 16 16">
        <IconPaths of={iconOf(state)} />
      </svg>
      {lines.map((line, index) => (
        <text key={line} class="name" x={x + 38} y={first + 18 * index}>
          {line}
        </text>
      ))}
      <text class="how" x={x + 38} y={first + 18 * lines.length + 2}>
        <tspan class="mood">{stateName(state)}</tspan>
        {who}
      </text>
    </a>
  );
}

const TONES: Readonly<Record<string, string>> = {
  done: 'done',
  in_progress: 'progress',
  claimed: 'progress',
  waiting: 'waiting',
  verifying: 'verifying',
  failed: 'failed',
  never: 'never',
};
