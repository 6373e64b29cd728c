/** A coding task's log, opened at its end. Scrolling up loads earlier lines. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { type LogChunk, logChunkDocument, type Task } from '../../live/documents.ts';
import { useLive } from '../../live/live.ts';
import { latestLog, olderLog } from '../../live/queries.ts';
import { documents, readOnce } from '../../live/sources.ts';
import { ErrorNotice } from '../../parts/ActionButton.tsx';
import { timeOfDay } from '../../parts/dates.ts';
import { Card, Shown } from '../../parts/Notice.tsx';
import { ScrollArea } from '../../parts/ScrollArea.tsx';
import { UserText } from '../../parts/UserText.tsx';
import { useWindow } from '../../parts/VirtualList.tsx';
import { type Line, linesOf } from './lines.ts';

const LINE_HEIGHT = 20;

/** Distance from the top at which earlier lines are loaded. */
const NEAR_BEGINNING = 40 * LINE_HEIGHT;

export function Log({ task }: { readonly task: Task }) {
  const live = useLive(documents(latestLog(task), logChunkDocument));
  const older = useSignal<readonly LogChunk[]>([]);
  const trouble = useSignal<unknown>(undefined);
  const isReading = useSignal(false);

  async function readOlder(before: number) {
    if (isReading.peek()) return;
    isReading.value = true;
    try {
      const { rows } = await readOnce(olderLog(task, before), logChunkDocument);
      // If no rows were found, the log starts here, and no further rows are loaded.
      older.value = [...rows, ...older.value];
      isReading.value = rows.length === 0;
    } catch (error) {
      trouble.value = error;
    }
  }

  return (
    <Card title="Log">
      <Shown live={live}>
        {({ rows }) => {
          const lines = linesOf([...older.value, ...rows]);
          const first = Math.min(...[...older.value, ...rows].map((chunk) => chunk.first_line));
          return lines.length === 0 ? (
            <p class="soft">It has said nothing yet.</p>
          ) : (
            <Lines lines={lines} before={first > 0 ? () => void readOlder(first) : undefined} />
          );
        }}
      </Shown>
      {trouble.value !== undefined && <ErrorNotice of={trouble.value} />}
    </Card>
  );
}

interface LinesProps {
  readonly lines: readonly Line[];
  /** Loads earlier lines; undefined at the start of the log. */
  readonly before: (() => void) | undefined;
}

function Lines({ lines, before }: LinesProps) {
  const { box, from, to, above, below } = useWindow(lines.length, LINE_HEIGHT);
  /** Whether the end of the log is visible. If so, it stays visible when new lines arrive. */
  const follows = useSignal(true);
  const firstShown = useRef(lines[0]?.number ?? 0);
  const { length } = lines;
  const first = lines[0]?.number ?? 0;
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const come = firstShown.current - first;
    firstShown.current = first;
    // Keeps the visible lines in place when earlier ones are inserted.
    if (come > 0) element.scrollTop += come * LINE_HEIGHT;
    else if (follows.value) element.scrollTop = element.scrollHeight;
  }, [length, first, follows.value]);
  const firstError = lines.findIndex(({ level }) => level === 'error');
  return (
    <>
      <p class="acts">
        {firstError >= 0 && (
          <button
            type="button"
            class="plain"
            onClick={() => {
              follows.value = false;
              box.current?.scrollTo({ top: firstError * LINE_HEIGHT });
            }}
          >
            To the first error
          </button>
        )}
        {!follows.value && (
          <button
            type="button"
            class="plain"
            onClick={() => {
              follows.value = true;
            }}
          >
            To the end
          </button>
        )}
      </p>
      <ScrollArea
        class="log"
        box={box}
        label="Lines of the log"
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          const isAtEnd = scrollHeight - scrollTop - clientHeight < LINE_HEIGHT * 2;
          if (isAtEnd !== follows.peek()) follows.value = isAtEnd;
          if (scrollTop < NEAR_BEGINNING) before?.();
        }}
      >
        <div style={{ height: `${above}px` }} />
        {lines.slice(from, to).map((line) => (
          <p key={line.number} class={`line ${line.level}`}>
            <span class="number">{line.number + 1}</span> <time>{timeOfDay(line.at)}</time>{' '}
            <UserText text={line.text} limit={2000} />
          </p>
        ))}
        <div style={{ height: `${below}px` }} />
      </ScrollArea>
    </>
  );
}
